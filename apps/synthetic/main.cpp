// SPDX-License-Identifier: Apache-2.0
// synthetic: PREMA's benchmark of load balancing (section 5.3.1), and what any schedule would take.
#include <fmt/format.h>

#include <string>

#include <nacre/nacre.hpp>
#include <nlohmann/json.hpp>
#include <program_options.hpp>

#include "benchmark.hpp"
#include "options.hpp"
#include "weights.hpp"

namespace {

std::string text_of(const synthetic::result& result, const nacre::config& configuration, bool as_json) {
  const std::string& balancer = configuration.get_string("balancer");
  const std::string& scheduler = configuration.get_string("scheduler");
  if (as_json) {
    return nlohmann::ordered_json{{"balancer", balancer},
                                  {"scheduler", scheduler},
                                  {"cores", result.cores},
                                  {"objects", result.objects},
                                  {"dispersed_seconds", result.dispersed_seconds},
                                  {"seconds", result.seconds},
                                  {"least_core_seconds", result.least_core_seconds},
                                  {"most_core_seconds", result.most_core_seconds},
                                  {"longest_first_seconds", result.longest_first_seconds},
                                  {"placed_seconds", result.placed_seconds},
                                  {"moves", result.moves},
                                  {"exact", result.exact}}
               .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) +
           "\n";
  }
  return fmt::format(
      "{} objects on {} cores, balancer {}, scheduler {}: {:.3f} s\n"
      "  a core computes {:.3f} to {:.3f} s; {} moves; dispersed within {:.6f} s\n"
      "  if every object stayed {:.3f} s; longest first, all known {:.3f} s\n  {}\n",
      result.objects, result.cores, balancer, scheduler, result.seconds, result.least_core_seconds,
      result.most_core_seconds, result.moves, result.dispersed_seconds, result.placed_seconds,
      result.longest_first_seconds, result.exact ? "every object exactly computed" : "NOT EXACT");
}

}  // namespace

int main(int argc, char** argv) {
  return nacre::run_program("synthetic", [&] {
    const nacre::config configuration = nacre::read_config(argc, argv);
    const synthetic::command_line command =
        synthetic::parse_command_line(argc, argv, configuration.get_string("transport"));
    if (command.exit_code) return *command.exit_code;
    if (!command.asked.recorded.empty()) (void)synthetic::weights(command.asked);  // refuses a wrong file at once
    int verdict = 0;
    const int failed = nacre::run(configuration, [&](nacre::runtime& rt) {
      const synthetic::result result = synthetic::run_benchmark(rt, command.asked);
      if (rt.rank() != nacre::rank_id{0}) return;
      fmt::print("{}", text_of(result, configuration, command.asked.json));
      verdict = result.exact ? 0 : 1;
    });
    return failed != 0 ? failed : verdict;
  });
}
