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

std::string text_of(const synthetic::result& found, const nacre::config& how, bool as_json) {
  const std::string& balancer = how.get_string("balancer");
  const std::string& scheduler = how.get_string("scheduler");
  if (as_json) {
    return nlohmann::ordered_json{{"balancer", balancer},
                                  {"scheduler", scheduler},
                                  {"cores", found.cores},
                                  {"objects", found.objects},
                                  {"dispersed_seconds", found.dispersed_seconds},
                                  {"seconds", found.seconds},
                                  {"least_core_seconds", found.least_core_seconds},
                                  {"most_core_seconds", found.most_core_seconds},
                                  {"longest_first_seconds", found.longest_first_seconds},
                                  {"placed_seconds", found.placed_seconds},
                                  {"moves", found.moves},
                                  {"exact", found.exact}}
               .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) +
           "\n";
  }
  return fmt::format(
      "{} objects on {} cores, balancer {}, scheduler {}: {:.3f} s\n"
      "  a core computes {:.3f} to {:.3f} s; {} moves; dispersed within {:.6f} s\n"
      "  if every object stayed {:.3f} s; longest first, all known {:.3f} s\n  {}\n",
      found.objects, found.cores, balancer, scheduler, found.seconds, found.least_core_seconds, found.most_core_seconds,
      found.moves, found.dispersed_seconds, found.placed_seconds, found.longest_first_seconds,
      found.exact ? "every object exactly computed" : "NOT EXACT");
}

}  // namespace

int main(int argc, char** argv) {
  return nacre::run_program("synthetic", [&] {
    const nacre::config configuration = nacre::read_config(argc, argv);
    const synthetic::command_line command = synthetic::parse_command_line(argc, argv);
    if (command.exit_code) return *command.exit_code;
    if (!command.asked.recorded.empty()) (void)synthetic::weights(command.asked);  // refuses a wrong file at once
    int verdict = 0;
    const int failed = nacre::run(configuration, [&](nacre::runtime& rt) {
      const synthetic::result found = synthetic::run_benchmark(rt, command.asked);
      if (rt.rank() != nacre::rank_id{0}) return;
      fmt::print("{}", text_of(found, configuration, command.asked.json));
      verdict = found.exact ? 0 : 1;
    });
    return failed != 0 ? failed : verdict;
  });
}
