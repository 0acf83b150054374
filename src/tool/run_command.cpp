// SPDX-License-Identifier: Apache-2.0
// `nacre run`: its options and their meaning.
#include "tool/run_command.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <numeric>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <unistd.h>

#include <fmt/format.h>

#include <nacre/config.hpp>
#include <nacre/error.hpp>

#include "base/nearest_name.hpp"
#include "tool/hosts/host_plan.hpp"
#include "tool/image_arguments.hpp"
#include "tool/program.hpp"
#include "tool/run_job.hpp"
#include "tool/text_file.hpp"
#include "transport/transport.hpp"

namespace nacre::tool {
namespace {

constexpr const char* run_brief = "Run a program on several ranks, each a process";

constexpr const char* run_about =
    R"(Starts PROGRAM once for each rank, connects the ranks, and waits for them.

Every rank gets a secret of this job, and proves it to the others before anything else is said. Options of the program
itself, also those of Nacre (--nacre.help shows them), come behind it.

)";

constexpr const char* run_footer =
    R"(When a rank is killed, or exits with an error before the job is over, one line names it; the others are told, get
SIGTERM after 2 seconds and SIGKILL 1.5 seconds later. SIGINT and SIGTERM are passed on to the ranks, which have
10 seconds to end; a second one kills them. A signal that is ignored when this command begins (nohup) stays ignored.
Standard input goes to rank 0.

With --hosts or --hostfile the ranks run on those hosts, each host's ranks started by an agent there (nacre host-agent),
which the remote shell starts and which ends with this command. The hosts need this nacre, the program and the folder at
the same paths, and a login without a password. Of the environment they get what begins with NACRE_ and what -x names.

With --survive restart the others are killed at once when a rank is killed or its host is lost, and the job starts again
from its newest image (docs/checkpoints.md); the exit code is that of the last start. With shrink it starts without that
rank, or without the ranks of that host, down to one; with any also when a rank has ended with an error of its own.
Starts without a newer image follow at once, then after 1, 4, 16 and 60 s; a host that cannot be used in one, unless the
job shrinks, is tried again for --host-timeout.

When the ranks write images (--nacre.checkpoint.folder), SIGTERM is not passed on. It asks for a last image, behind which
the job ends with code 75: start it again with --restore. Without an image within --nacre.checkpoint.grace (60 s), or
with a second signal, the ranks are killed; the code is 75 if there is an older image, else 143.

The exit code is 0 when every rank returned 0, also after a signal; otherwise that of the rank that failed (128 and the
signal for one that was killed), 2 when the job could not be started, and 1 when standard output could not be written,
or was not read before a signal came.

Examples:
  nacre run -n 2 build/release/bin/uts --tree T1
  nacre run -n 4 --label ./program --nacre.workers=2
  nacre run --hosts a:8,b:8 ./program
  nacre run -n 4 --survive restart ./program --nacre.checkpoint.folder=images --nacre.checkpoint.every=1min
  nacre run -n 4 --restore images ./program --nacre.checkpoint.folder=images; [ $? = 75 ] && echo not done yet
  nacre run --hostfile hosts.txt -n 64 --distribution cyclic -x OMP_PROC_BIND ./program)";

[[noreturn]] void refuse_to_run(const std::string& problem, const std::string& reason, const std::string& remedy) {
  throw setup_error({.problem = problem, .why = reason, .remedy = remedy});
}

class run_formatter final : public CLI::Formatter {
 public:
  std::string make_description(const CLI::App*) const override { return run_about; }
  std::string make_usage(const CLI::App*, std::string) const override {
    return "Usage: nacre run -n N [OPTIONS] PROGRAM [ARGUMENTS...]\n"
           "       nacre run --hosts A,B:4 [-n N] [OPTIONS] PROGRAM [ARGUMENTS...]\n";
  }
};

std::uint32_t parse_ranks(const std::string& text) {
  if (text.starts_with('p') && text.find_first_not_of("=0123456789", 1) == std::string::npos) {
    refuse_to_run("there is no option -np", "-n takes the number of ranks",
                  "write -n N, as in nacre run -n 2 ./program");
  }
  char* end = nullptr;
  const long value = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || value < 1 || value > static_cast<long>(ranks_max)) {
    refuse_to_run(fmt::format("-n {} is no number of ranks", text), "a rank is a process of the job",
                  fmt::format("choose 1 to {}", ranks_max));
  }
  return static_cast<std::uint32_t>(value);
}

void check_transport(const std::string& name, std::size_t hosts) {
  if (name == "shm" && hosts > 1) {
    refuse_to_run("the transport 'shm' does not leave a host", fmt::format("the ranks run on {} hosts", hosts),
                  "choose --transport auto");
  }
  if (transport::find_backend(name).join_job != nullptr) return;
  refuse_to_run(fmt::format("the transport '{}' connects no processes", name), "nacre run starts one for each rank",
                fmt::format("run the program by itself with --nacre.transport={} --nacre.ranks=N", name));
}

void check_program(const CLI::App& command, const std::vector<std::string>& program) {
  if (program.empty())
    refuse_to_run("no program is given", "nacre run starts it once for each rank", "nacre run -n 4 ./program");
  const std::string& first = program.front();
  if (!first.starts_with('-')) return;
  std::vector<std::string> names;
  for (const CLI::Option* each : command.get_options()) {
    for (const std::string& name : each->get_lnames()) names.push_back("--" + name);
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  const auto nearest = nearest_name(first, known);
  refuse_to_run(fmt::format("there is no option {}", first), "options of nacre run stand in front of the program",
                nearest ? fmt::format("did you mean {}?", *nearest) : "nacre run --help lists them");
}

/// "NAME" takes its value from this process's environment; "NAME=VALUE" is complete.
std::vector<std::string> parse_variables(const std::vector<std::string>& asked) {
  std::vector<std::string> result;
  for (const std::string& each : asked) {
    const std::string name = each.substr(0, each.find('='));
    if (name.empty() || name.starts_with("NACRE_JOB_")) {
      refuse_to_run(fmt::format("-x {} names no variable that can be set", each), "it is passed on to every rank",
                    "write -x NAME or -x NAME=VALUE");
    }
    if (name == "NACRE_TRANSPORT") {
      refuse_to_run("-x NACRE_TRANSPORT would have no effect", "the launcher says how the ranks talk",
                    "write --transport NAME");
    }
    const char* const site = std::getenv(name.c_str());
    if (each.size() > name.size()) {
      result.push_back(each);
    } else if (site != nullptr) {
      result.push_back(name + "=" + site);
    } else {
      refuse_to_run(fmt::format("there is no variable {} in the environment", name),
                    "-x passes its value on to every rank", fmt::format("set it, or write -x {}=VALUE", name));
    }
  }
  return result;
}

distribution parse_distribution(const std::string& word) {
  if (word == "block") return distribution::block;
  if (word == "cyclic") return distribution::cyclic;
  refuse_to_run(fmt::format("--distribution {} is unknown", word), "it says which ranks a host gets",
                "block (0, 1 on the first host) or cyclic (0 on the first, 1 on the second)");
}

std::vector<host_share> parse_placement(const run_arguments& given) {
  if (given.hosts.empty() && given.host_file.empty()) return {};
  if (!given.hosts.empty() && !given.host_file.empty())
    refuse_to_run("--hosts and --hostfile are both given", "either says where the ranks run", "leave one out");
  const auto hosts =
      given.hosts.empty()
          ? parse_host_file(text_of_file(given.host_file, "--hostfile names a file with one host in a line"),
                            given.host_file)
          : parse_hosts(given.hosts);
  const auto ranks = given.ranks.empty() ? std::nullopt : std::optional(parse_ranks(given.ranks));
  return spread_ranks(hosts, ranks, parse_distribution(given.distribution));
}

std::chrono::seconds parse_host_timeout(const std::string& text) {
  if (text.empty()) return remote_options{}.start_time;
  char* end = nullptr;
  const long value = std::strtol(text.c_str(), &end, 10);
  if (*end == '\0' && value >= 1 && value <= 86'400) return std::chrono::seconds(value);
  refuse_to_run(fmt::format("--host-timeout {} is no number of seconds", text),
                "a host has so long until its agent answers", "choose 1 to 86400");
}

/// Refuses empty values. An unset shell variable gives one, and the option would silently have no effect.
void check_empty_values(const CLI::App& command) {
  for (const CLI::Option* each : command.get_options()) {
    if (std::ranges::find(each->results(), "") == each->results().end()) continue;
    refuse_to_run(fmt::format("{} has an empty value", each->get_name()), "it would have no effect",
                  fmt::format("leave it out, or write {} {}", each->get_name(), each->get_type_name()));
  }
}

/// Refuses options for other hosts when no hosts are given: they would have no effect.
void check_one_host(const CLI::App& command) {
  for (const char* each : {"--distribution", "--ssh", "--nacre", "--address", "--host-timeout"}) {
    if (command.get_option(each)->count() == 0) continue;
    refuse_to_run(fmt::format("{} is given, and no hosts are", each), "all ranks run on this one",
                  "leave it out, or name hosts with --hosts or --hostfile");
  }
}

std::uint32_t count_ranks(const run_arguments& given, const std::vector<host_share>& hosts) {
  if (!hosts.empty()) {
    return static_cast<std::uint32_t>(
        std::accumulate(hosts.begin(), hosts.end(), std::size_t{0},
                        [](std::size_t sum, const auto& each) { return sum + each.ranks.size(); }));
  }
  if (given.ranks.empty()) {
    const bool is_behind = std::find(given.program.begin(), given.program.end(), "-n") != given.program.end();
    refuse_to_run(is_behind ? "no -n or --hosts stands before the program" : "neither -n nor --hosts is given",
                  is_behind ? "what stands behind it is the program's" : "a job has a number of ranks",
                  "nacre run -n 4 ./program, or nacre run --hosts a,b ./program");
  }
  return parse_ranks(given.ranks);
}

/// The path of this program, which is usually the same on all hosts of a cluster.
std::string own_path() {
  std::error_code error;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error)
    refuse_to_run("the path of nacre is unknown", "its agents on the hosts are started by it",
                  "name it with --nacre PATH");
  return path.string();
}

void add_image_options(CLI::App& command, run_arguments& given) {
  command
      .add_option("--survive", given.survive,
                  "When a rank is killed, start again from the newest image: restart, shrink, any")
      ->type_name("HOW");
  command.add_option("--restarts", given.restarts, "How often in a row without a newer image (default: 3)")
      ->type_name("N");
  command
      .add_option("--restore", given.restore, "Go on from the newest image in this folder; from the beginning if none")
      ->type_name("DIR");
}

void add_host_options(CLI::App& command, run_arguments& given) {
  command.add_option("--hosts", given.hosts, "Hosts to run on, each with the number of its ranks if it has one")
      ->type_name("A,B:N");
  command.add_option("--hostfile", given.host_file, "The same, one host in a line: A, A:N or A slots=N")
      ->type_name("FILE");
  command.add_option("--distribution", given.distribution, "Ranks to hosts: block (default) or cyclic")
      ->type_name("HOW");
  command.add_option("--ssh", given.shell, fmt::format("Remote shell (default: {})", default_shell))->type_name("CMD");
  command.add_option("--nacre", given.nacre, "The command nacre on the hosts (default: the path of this one)")
      ->type_name("PATH");
  command.add_option("--address", given.address, "Numeric address of this host that the others can reach")
      ->type_name("ADDRESS");
  command
      .add_option("--host-timeout", given.host_timeout,
                  "How long a host may take until its agent answers (default: 30)")
      ->type_name("SECONDS");
  command.add_option("--wdir", given.folder, "Folder to run in, on each host (default: the current one)")
      ->type_name("DIR");
}

/// The file that the ranks read, which run in another folder perhaps. One that -x names is no business of the launcher.
std::string config_of(const run_arguments& given) {
  const bool is_named =
      std::ranges::any_of(given.variables, [](const std::string& each) { return each.starts_with("NACRE_CONFIG="); });
  const char* const variable = is_named ? nullptr : std::getenv("NACRE_CONFIG");
  const std::string name = !given.config.empty() ? given.config : variable != nullptr ? variable : "";
  return name.empty() ? "" : std::filesystem::absolute(name).string();
}

/// Absolute, since ranks on other hosts begin in another folder than this process.
std::string folder_of(const run_arguments& given) {
  if (given.folder.empty()) return "";
  const auto folder = std::filesystem::absolute(given.folder).lexically_normal();
  return folder.has_filename() ? folder.string() : folder.parent_path().string();
}

}  // namespace

int run(const CLI::App& command, const run_arguments& given) {
  check_empty_values(command);
  check_program(command, given.program);
  const std::vector<host_share> hosts = parse_placement(given);
  if (hosts.empty()) check_one_host(command);
  const std::uint32_t ranks = count_ranks(given, hosts);
  const std::string transport = given.transport.empty() ? (hosts.size() > 1 ? "auto" : "shm") : given.transport;
  check_transport(transport, hosts.size());
  if (std::error_code fault; !given.config.empty() && !std::filesystem::is_regular_file(given.config, fault)) {
    const bool is_there = std::filesystem::exists(given.config, fault);
    const std::string name = fmt::format("'{}'", given.config);
    refuse_to_run(is_there ? name + " is no regular file" : "there is no file " + name,
                  "--config names a file with configuration, which the launcher and each rank read", "check the path");
  }
  const std::string config = config_of(given), folder = folder_of(given);
  if (hosts.empty() && !folder.empty()) enter_folder(folder);
  const image_options images =
      image_options_of(given, {.config = config, .folder = hosts.empty() ? "" : folder, .is_remote = !hosts.empty()});
  return run_job({.ranks = ranks,
                  .hosts = hosts,
                  .remote = {.shell = split_words(given.shell),
                             .nacre = given.nacre.empty() ? own_path() : given.nacre,
                             .address = given.address,
                             .folder = folder,
                             .start_time = parse_host_timeout(given.host_timeout)},
                  .transport = transport,
                  .config = config,
                  .label = given.label,
                  .variables = parse_variables(given.variables),
                  .arguments = given.program,
                  .images = images.folder,
                  .restore = given.restore,
                  .survive = parse_survive(given, images),
                  .image_signal = images.signal,
                  .image_grace = images.grace,
                  .first_image = images.restore,
                  .restarts = parse_restarts(given.restarts)});
}

CLI::App* add_run(CLI::App& app, run_arguments& given) {
  CLI::App* const command = app.add_subcommand("run", run_brief);
  command->formatter(std::make_shared<run_formatter>());
  command->footer(run_footer);
  command->add_option("-n,--ranks", given.ranks, fmt::format("Number of ranks, 1 to {}", ranks_max))->type_name("N");
  command
      ->add_option("--transport", given.transport,
                   "What carries messages between the ranks (default: shm on one host, auto on several)")
      ->envname("NACRE_TRANSPORT")
      ->type_name("NAME");
  command->add_option("--config", given.config, "TOML file with configuration for every rank")->type_name("FILE");
  command->add_option("-x", given.variables, "Pass a variable of the environment on to every rank; can be repeated")
      ->type_name("NAME[=VALUE]")
      ->allow_extra_args(false);
  add_host_options(*command, given);
  add_image_options(*command, given);
  command->add_flag("--label", given.label, "Put [rank] in front of each line of output");
  command->prefix_command();
  return command;
}

}  // namespace nacre::tool
