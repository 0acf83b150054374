// SPDX-License-Identifier: Apache-2.0
// The commands of `nacre` and their options.
#include "tool/command_line.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <new>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <nacre/error.hpp>

#include "base/nearest_name.hpp"
#include "base/print_error.hpp"
#include "base/standard_streams.hpp"
#include "program_options/standard_output.hpp"
#include "tool/calibrate.hpp"
#include "tool/hosts/host_agent.hpp"
#include "tool/info.hpp"
#include "tool/lives.hpp"
#include "tool/replay.hpp"
#include "tool/report/report.hpp"
#include "tool/run_command.hpp"

namespace nacre::tool {
namespace {

constexpr int usage_code = 2;

constexpr const char* description =
    R"(Nacre runs programs of mobile objects on threads, on processes and in simulation.)";

CLI::App* add_report(CLI::App& app, report_arguments& given) {
  CLI::App* const command = app.add_subcommand("report", "Show what a traced run has done");
  command
      ->add_option("trace", given.trace,
                   "What the program was given as --nacre.trace=FILE, or emulate as --profile=FILE")
      ->type_name("FILE")
      ->required();
  command
      ->add_option("--format", given.format,
                   "What to write: a page for a browser (default), files for Perfetto, Paraver or Vampir, or a text")
      ->type_name(report_formats());
  command->add_option("-o,--output", given.output, "Where to (default: beside the trace; a text is printed)")
      ->type_name("PATH");
  command
      ->add_option("--slice", given.slice,
                   "The nodes of an emulation that its page shows (default: the middle along z)")
      ->type_name("AXIS=NUMBER");
  command->footer(R"(
Examples:
  uts --tree T3 --nacre.transport=sim --nacre.ranks=64 --nacre.trace=uts.trace
  nacre report uts.trace
  emulate --program octree --critical-path --profile octree.profile
  nacre report octree.profile --slice z=18)");
  return command;
}

/// Refuses a first word that is no command, and suggests the nearest command.
void check_command(int argc, char** argv) {
  static constexpr std::array<std::string_view, 6> commands{"run",  "report",    "replay",
                                                            "info", "calibrate", "host-agent"};
  if (argc < 2) return;
  const std::string_view word = argv[1];
  if (word.starts_with('-') || std::find(commands.begin(), commands.end(), word) != commands.end()) return;
  const auto nearest = nearest_name(word, commands);
  throw setup_error(
      {.problem = fmt::format("there is no command '{}'", word),
       .why = "the first word says what to do",
       .remedy = nearest ? fmt::format("did you mean 'nacre {}'?", *nearest) : "nacre --help lists the commands"});
}

/// `nacre run OPTIONS -- PROGRAM` is `nacre run OPTIONS PROGRAM`, as mpirun and srun take it. A `--` behind the program
/// is the program's.
void drop_separator(const CLI::App& run_command, std::vector<char*>& words) {
  if (words.size() < 3 || std::string_view(words[1]) != run_command.get_name()) return;
  for (std::size_t index = 2; index < words.size(); ++index) {
    const std::string word = words[index];
    if (word == "--") {
      words.erase(words.begin() + static_cast<std::ptrdiff_t>(index));
      return;
    }
    if (!word.starts_with('-')) return;
    const CLI::Option* const option = run_command.get_option_no_throw(word);  // none: its value is in the word
    if (option != nullptr && option->get_expected_min() > 0) ++index;
  }
}

int run_words(int argc, char** argv) {
  CLI::App app{description, "nacre"};
  app.set_version_flag("--version", fmt::format("nacre {}", version_text()));
  app.require_subcommand(1);
  app.failure_message([](const CLI::App*, const CLI::Error& error) {
    return fmt::format("nacre: {} (nacre --help explains the commands)\n", error.what());
  });
  run_arguments given;
  CLI::App* const run_command = add_run(app, given);
  report_arguments report;
  CLI::App* const report_command = add_report(app, report);
  CLI::App* const agent_command = app.add_subcommand("host-agent", "Serve a launcher on this host");
  agent_command->group("");  // nacre run starts it
  CLI::App* const info_command =
      app.add_subcommand("info", "Show version, transports and processor, or images of a job");
  std::string image_folder;
  info_command->add_option("folder", image_folder, "Show the images of a job that are in this folder")
      ->type_name("DIR");
  replay_arguments replayed;
  CLI::App* const replay_command = add_replay(app, replayed);
  calibrate_arguments calibrated;
  CLI::App* const calibrate_command = add_calibrate(app, calibrated);
  try {
    check_command(argc, argv);
    std::vector<char*> words(argv, argv + argc);
    drop_separator(*run_command, words);
    app.parse(static_cast<int>(words.size()), words.data());
    if (*info_command) print(image_folder.empty() ? info_text() : images_text(image_folder));
    if (*agent_command) return run_host_agent();
    if (*report_command) return write_report(report);
    if (*replay_command) run_replay(replayed);
    if (*calibrate_command) return run_calibrate(calibrated);
    if (!*run_command) return EXIT_SUCCESS;
    given.program = run_command->remaining();
    return run(*run_command, given);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;  // the text of --help or --version
    const int code = app.exit(error, out, std::cerr);
    print(out.str());
    return code == 0 ? EXIT_SUCCESS : usage_code;
  } catch (const setup_error& error) {
    nacre::print_error("nacre: {}\n", error.what());
    return usage_code;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {  // such as a path that may not be looked at
    nacre::print_error("nacre: {}\n", error.what());
    return usage_code;
  }
}

}  // namespace

int run_command_line(int argc, char** argv) {
  occupy_standard_descriptors();
  check_output_at_exit();
  ::signal(SIGCHLD, SIG_DFL);  // where the parent ignores it, the system does not keep the ends of children for waitid
  try {
    return run_words(argc, argv);
  } catch (const std::bad_alloc&) {
    nacre::print_error(
        "nacre: no memory is left (what it computes must fit into memory): choose less, or raise the limit of memory "
        "(ulimit -v)\n");
    return EXIT_FAILURE;
  }
}

}  // namespace nacre::tool
