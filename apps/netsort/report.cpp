// SPDX-License-Identifier: Apache-2.0
// The report as a table and as JSON.
#include "report.hpp"

#include <cstddef>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace netsort {
namespace {

std::string row(const std::string& title, const phase_report& what) {
  return fmt::format("{:<8}{:>11.6f}{:>11}{:>11.3f}{:>11}{:>11}{:>12}\n", title, what.seconds, what.messages,
                     what.hops_a_message(), what.forwards, what.updates, what.migrations);
}

nlohmann::ordered_json json_of(const phase_report& what) {
  return {{"seconds", what.seconds},
          {"messages", what.messages},
          {"hops", what.hops},
          {"hops_a_message", what.hops_a_message()},
          {"forwards", what.forwards},
          {"location_updates", what.updates},
          {"migrations", what.migrations}};
}

}  // namespace

std::string result_text(const options& asked, const surroundings& where, const sort_report& what) {
  std::string text =
      fmt::format("{} wires, {} keys on each, {}, on {} ranks ({}), location policy {}\n\n", asked.values, asked.keys,
                  name_of(asked.where), where.ranks, where.transport, where.location);
  text += fmt::format("{:<8}{:>11}{:>11}{:>11}{:>11}{:>11}{:>12}\n", "", "seconds", "messages", "hops each", "forwards",
                      "updates", "migrations");
  text += row("placing", what.placing);
  for (std::size_t index = 0; index < what.rounds.size(); ++index) {
    text += row(fmt::format("sort {}", index + 1), what.rounds[index]);
  }
  text += fmt::format("\n{}\n", what.sorted ? "sorted" : "NOT SORTED");
  return text;
}

std::string result_json(const options& asked, const surroundings& where, const sort_report& what) {
  nlohmann::ordered_json json{
      {"values", asked.values},     {"keys", asked.keys},    {"placement", name_of(asked.where)},
      {"wander", asked.wander},     {"ranks", where.ranks},  {"transport", where.transport},
      {"location", where.location}, {"sorted", what.sorted}, {"placing", json_of(what.placing)}};
  for (const phase_report& each : what.rounds) json["rounds"].push_back(json_of(each));
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace netsort
