// SPDX-License-Identifier: Apache-2.0
// netsort: sorts by a network of mobile objects, which is all messages (Clam section 4.1).
#include <fmt/format.h>

#include <nacre/nacre.hpp>
#include <program_options.hpp>

#include "options.hpp"
#include "report.hpp"
#include "rounds.hpp"

int main(int argc, char** argv) {
  return nacre::run_program("netsort", [&] {
    nacre::config configuration = nacre::read_config(argc, argv);
    const netsort::command_line command = netsort::parse_command_line(argc, argv);
    if (command.exit_code) return *command.exit_code;
    netsort::options asked = command.asked;
    if (asked.measured && configuration.get_string("transport") == "sim") {
      asked.costs = netsort::measured_key_costs(asked.values, asked.keys);
    }
    configuration.set("balancer", "none", nacre::setting_source::program);  // wires stay where they are placed
    if (!asked.location.empty()) configuration.set("location", asked.location);
    int verdict = 0;
    const int failed = nacre::run(configuration, [&](nacre::runtime& rt) {
      const netsort::sort_report report = netsort::sort_by_network(rt, asked);
      if (rt.rank().value() != 0) return;
      const netsort::surroundings surroundings{rt.size(), configuration.get_string("transport"),
                                               configuration.get_string("location")};
      fmt::print("{}",
                 asked.json ? result_json(asked, surroundings, report) : result_text(asked, surroundings, report));
      verdict = report.sorted ? 0 : 1;
    });
    return failed != 0 ? failed : verdict;
  });
}
