// SPDX-License-Identifier: Apache-2.0
// The report as a table and as JSON.
#include "report.hpp"

#include <cstddef>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace netsort {
namespace {

std::string row(const std::string& title, const phase_report& report) {
  return fmt::format("{:<8}{:>11.6f}{:>11}{:>11.3f}{:>11}{:>11}{:>12}\n", title, report.seconds, report.messages,
                     report.hops_a_message(), report.forwards, report.updates, report.migrations);
}

nlohmann::ordered_json json_of(const phase_report& report) {
  return {{"seconds", report.seconds},
          {"messages", report.messages},
          {"hops", report.hops},
          {"hops_a_message", report.hops_a_message()},
          {"forwards", report.forwards},
          {"location_updates", report.updates},
          {"migrations", report.migrations}};
}

}  // namespace

std::string result_text(const options& asked, const surroundings& surroundings, const sort_report& report) {
  std::string text =
      fmt::format("{} wires, {} keys on each, {}, on {} ranks ({}), location policy {}\n\n", asked.values, asked.keys,
                  name_of(asked.layout), surroundings.ranks, surroundings.transport, surroundings.location);
  text += fmt::format("{:<8}{:>11}{:>11}{:>11}{:>11}{:>11}{:>12}\n", "", "seconds", "messages", "hops each", "forwards",
                      "updates", "migrations");
  text += row("placing", report.placing);
  for (std::size_t index = 0; index < report.rounds.size(); ++index) {
    text += row(fmt::format("sort {}", index + 1), report.rounds[index]);
  }
  text += fmt::format("\n{}\n", report.sorted ? "sorted" : "NOT SORTED");
  return text;
}

std::string result_json(const options& asked, const surroundings& surroundings, const sort_report& report) {
  nlohmann::ordered_json json{{"values", asked.values},
                              {"keys", asked.keys},
                              {"placement", name_of(asked.layout)},
                              {"wander", asked.wander},
                              {"ranks", surroundings.ranks},
                              {"transport", surroundings.transport},
                              {"location", surroundings.location},
                              {"sorted", report.sorted},
                              {"placing", json_of(report.placing)}};
  for (const phase_report& each : report.rounds) json["rounds"].push_back(json_of(each));
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace netsort
