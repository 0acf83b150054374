// SPDX-License-Identifier: Apache-2.0
// The commands of `nacre` and their options.
#include "tool/command_line.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <nacre/error.hpp>

#include "base/nearest_name.hpp"
#include "tool/info.hpp"
#include "tool/run_job.hpp"
#include "transport/transport.hpp"

namespace nacre::tool {
namespace {

constexpr int usage_code = 2;

constexpr const char* about = R"(Nacre runs programs of mobile objects on threads, on processes and in simulation.)";

constexpr const char* run_brief = "Run a program on several ranks, each a process";

constexpr const char* run_about =
    R"(Starts PROGRAM once for each rank, connects the ranks, and waits for them.

Every rank gets a secret of this job, and proves it to the others before anything else is said. Options of the program
itself, also those of Nacre (--nacre.help shows them), come behind it.

)";

constexpr const char* run_footer =
    R"(When a rank is killed, or exits with an error before the job is over, one line names it; the others are told, get
SIGTERM after 2 seconds and SIGKILL 1.5 seconds later. SIGINT and SIGTERM are passed on to the ranks, which have
10 seconds to end; a second one kills them. Standard input goes to rank 0.

The exit code is 0 when every rank returned 0, otherwise that of the rank that failed (128 and the signal for one that
was killed), and 2 when the job could not be started.

Examples:
  nacre run -n 2 build/release/bin/uts --tree T1
  nacre run -n 4 --label ./program --nacre.workers=2)";

class run_formatter final : public CLI::Formatter {
 public:
  std::string make_description(const CLI::App*) const override { return run_about; }
  std::string make_usage(const CLI::App*, std::string) const override {
    return "Usage: nacre run -n N [OPTIONS] PROGRAM [ARGUMENTS...]\n";
  }
};

/// The arguments as text; what they mean is checked here, so that every complaint has one form.
struct run_arguments {
  std::string ranks;
  std::string transport = "shm";
  std::string config;
  bool label = false;
  std::vector<std::string> program;
};

[[noreturn]] void refuse(const std::string& problem, const std::string& why, const std::string& remedy) {
  throw setup_error({.problem = problem, .why = why, .remedy = remedy});
}

std::uint32_t parse_ranks(const std::string& text) {
  char* end = nullptr;
  const long value = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || value < 1 || value > static_cast<long>(ranks_max)) {
    refuse(fmt::format("-n {} is no number of ranks", text), "a rank is a process of the job",
           fmt::format("choose 1 to {}", ranks_max));
  }
  return static_cast<std::uint32_t>(value);
}

void check_transport(const std::string& name) {
  if (transport::find_backend(name).join_job != nullptr) return;
  refuse(fmt::format("the transport '{}' connects no processes", name), "nacre run starts one for each rank",
         fmt::format("run the program by itself with --nacre.transport={} --nacre.ranks=N", name));
}

void check_program(const CLI::App& command, const std::vector<std::string>& program) {
  if (program.empty())
    refuse("no program is given", "nacre run starts it once for each rank", "nacre run -n 4 ./program");
  const std::string& first = program.front();
  if (!first.starts_with('-')) return;
  std::vector<std::string> names;
  for (const CLI::Option* each : command.get_options()) {
    for (const std::string& name : each->get_lnames()) names.push_back("--" + name);
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  const auto nearest = nearest_name(first, known);
  refuse(fmt::format("there is no option {}", first), "options of nacre run stand in front of the program",
         nearest ? fmt::format("did you mean {}?", *nearest) : "nacre run --help lists them");
}

int run(const CLI::App& command, const run_arguments& given) {
  check_program(command, given.program);
  const std::uint32_t ranks = parse_ranks(given.ranks);
  check_transport(given.transport);
  if (!given.config.empty() && !std::filesystem::is_regular_file(given.config)) {
    refuse(fmt::format("there is no file '{}'", given.config), "--config names a file with configuration",
           "check the path");
  }
  return run_job({.ranks = ranks,
                  .transport = given.transport,
                  .config = given.config,
                  .label = given.label,
                  .arguments = given.program});
}

CLI::App* add_run(CLI::App& app, run_arguments& given) {
  CLI::App* const command = app.add_subcommand("run", run_brief);
  command->formatter(std::make_shared<run_formatter>());
  command->footer(run_footer);
  command->add_option("-n,--ranks", given.ranks, fmt::format("Number of ranks, 1 to {}", ranks_max))
      ->required()
      ->type_name("N");
  command->add_option("--transport", given.transport, "What carries messages between the ranks (default: shm)")
      ->envname("NACRE_TRANSPORT")
      ->type_name("NAME");
  command->add_option("--config", given.config, "TOML file with configuration for every rank")->type_name("FILE");
  command->add_flag("--label", given.label, "Put [rank] in front of each line of output");
  command->prefix_command();
  return command;
}

/// A first word that is no command is answered with the nearest one.
void check_command(int argc, char** argv) {
  static constexpr std::array<std::string_view, 2> commands{"run", "info"};
  if (argc < 2) return;
  const std::string_view word = argv[1];
  if (word.starts_with('-') || std::find(commands.begin(), commands.end(), word) != commands.end()) return;
  const auto nearest = nearest_name(word, commands);
  refuse(fmt::format("there is no command '{}'", word), "the first word says what to do",
         nearest ? fmt::format("did you mean 'nacre {}'?", *nearest) : "nacre --help lists the commands");
}

}  // namespace

int run_command_line(int argc, char** argv) {
  CLI::App app{about, "nacre"};
  app.set_version_flag("--version", fmt::format("nacre {}", version_text()));
  app.require_subcommand(1);
  app.failure_message([](const CLI::App*, const CLI::Error& error) {
    return fmt::format("nacre: {} (nacre --help explains the commands)\n", error.what());
  });
  run_arguments given;
  CLI::App* const run_command = add_run(app, given);
  CLI::App* const info_command = app.add_subcommand("info", "Show version, transports and processor");
  try {
    check_command(argc, argv);
    app.parse(argc, argv);
    if (*info_command) fmt::print("{}", info_text());
    if (!*run_command) return EXIT_SUCCESS;
    given.program = run_command->remaining();
    return run(*run_command, given);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? EXIT_SUCCESS : usage_code;
  } catch (const setup_error& error) {
    fmt::print(stderr, "nacre: {}\n", error.what());
    return usage_code;
  }
}

}  // namespace nacre::tool
