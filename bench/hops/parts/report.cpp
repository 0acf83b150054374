// SPDX-License-Identifier: Apache-2.0
// The report of a journey.
#include "report.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "plot.hpp"

namespace hops {
namespace {

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::string side_by_side(std::uint64_t counted, std::uint64_t predicted) {
  return fmt::format("{} ({})", counted, predicted);
}

std::string row(const std::string& title, const std::string& moves, const stop& counted, const stop& predicted,
                bool timed) {
  std::string out =
      fmt::format("{:<18}{:>6}{:>11}", title, moves, side_by_side(counted.moving.updates, predicted.moving.updates));
  for (std::size_t index = 0; index < counted.messages.size(); ++index) {
    const cost &has = counted.messages[index], &should = predicted.messages[index];
    out += fmt::format(" |{:>10}{:>10}{:>9}", side_by_side(has.hops, should.hops),
                       side_by_side(has.updates, should.updates),
                       timed ? fmt::format("{:.2f}", counted.seconds[index] * 1e6) : "");
  }
  return out + "\n";
}

void add(stop& sum, const stop& more) {
  sum.moving.updates += more.moving.updates;
  for (std::size_t index = 0; index < sum.messages.size(); ++index) {
    sum.messages[index].hops += more.messages[index].hops;
    sum.messages[index].updates += more.messages[index].updates;
  }
}

std::string title_of(const plan& plan, const surroundings& surroundings) {
  return fmt::format("An object visits {} ranks of {} ({}); two messages{} after {}", plan.visits, surroundings.ranks,
                     surroundings.transport, plan.bytes == 0 ? "" : fmt::format(" of {} bytes", plan.bytes),
                     plan.every == 1 ? "each move" : fmt::format("every {} moves", plan.every));
}

nlohmann::json json_of(const stop& stop) {
  nlohmann::json messages = nlohmann::json::array();
  for (const cost& each : stop.messages) messages.push_back({{"hops", each.hops}, {"updates", each.updates}});
  return {{"updates_of_moves", stop.moving.updates}, {"messages", std::move(messages)}};
}

}  // namespace

stop comparison::at(std::size_t index) const {
  stop result = counted.front()[index];
  for (std::size_t message = 0; message < result.seconds.size(); ++message) {
    std::vector<double> times;
    for (const std::vector<stop>& run : counted) times.push_back(run[index].seconds[message]);
    result.seconds[message] = median(std::move(times));
  }
  for (const std::vector<stop>& run : counted) {
    if (run[index].costs_as(predicted[index])) continue;
    result.moving = run[index].moving;
    result.messages = run[index].messages;
  }
  return result;
}

std::string table(const plan& plan, const surroundings& surroundings, const std::vector<comparison>& all) {
  std::string out =
      fmt::format("{}.\nCounted (predicted); us: the round trip of a message, {}.\n\n", title_of(plan, surroundings),
                  surroundings.transport == "sim" ? "in virtual time" : "median");
  out += fmt::format("{:<18}{:>6}{:>11}", "", "", "updates");
  for (const char* name : {"first message", "second message"}) out += fmt::format(" |{:>29}", name);
  out += fmt::format("\n{:<18}{:>6}{:>11}", "", "moves", "of moves");
  for (int message = 0; message < 2; ++message) out += fmt::format(" |{:>10}{:>10}{:>9}", "hops", "updates", "us");
  out += "\n";
  for (const comparison& each : all) {
    stop has, should;
    for (std::size_t index = 0; index < each.predicted.size(); ++index) {
      const stop now = each.at(index);
      out += row(index == 0 ? std::string(name_of(each.policy)) : "", std::to_string(now.moves), now,
                 each.predicted[index], true);
      add(has, now);
      add(should, each.predicted[index]);
    }
    out += row("", "total", has, should, false);
  }
  return out;
}

std::string json(const plan& plan, const surroundings& surroundings, const std::vector<comparison>& all) {
  nlohmann::json policies = nlohmann::json::object();
  for (const comparison& each : all) {
    nlohmann::json& stops = policies[std::string(name_of(each.policy))] = nlohmann::json::array();
    for (std::size_t index = 0; index < each.predicted.size(); ++index) {
      const stop now = each.at(index);
      stops.push_back({{"moves", now.moves},
                       {"counted", json_of(now)},
                       {"predicted", json_of(each.predicted[index])},
                       {"round_trip_us", {now.seconds[0] * 1e6, now.seconds[1] * 1e6}}});
    }
  }
  const nlohmann::json whole{{"benchmark", "hops"},
                             {"visits", plan.visits},
                             {"every", plan.every},
                             {"bytes", plan.bytes},
                             {"runs", plan.runs},
                             {"ranks", surroundings.ranks},
                             {"transport", surroundings.transport},
                             {"policies", policies}};
  return whole.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string picture(const plan& plan, const surroundings& surroundings, const std::vector<comparison>& all) {
  plot::chart hops{.title = "Hops of the first message", .x_label = "moves", .kind = plot::axes::linear};
  plot::chart time{
      .title = "Round trip of the first message", .x_label = "moves", .y_unit = "s", .kind = plot::axes::linear};
  plot::chart updates{.title = "Location updates so far", .x_label = "moves", .kind = plot::axes::linear};
  for (const comparison& each : all) {
    // Policies that cost the same lie on each other: of two neighbours the later one lets the other show through.
    const std::size_t number = static_cast<std::size_t>(each.policy);
    plot::line line{.name = std::string(name_of(each.policy)), .colour = number, .dashed = number % 2 == 1};
    plot::line time_line = line, updates_line = line;
    std::uint64_t told = 0;
    for (std::size_t index = 0; index < each.predicted.size(); ++index) {
      const stop now = each.at(index);
      const auto moves = static_cast<double>(now.moves);
      told += now.moving.updates + now.messages[0].updates + now.messages[1].updates;
      line.points.push_back({moves, static_cast<double>(now.messages[0].hops)});
      time_line.points.push_back({moves, now.seconds[0]});
      updates_line.points.push_back({moves, static_cast<double>(told)});
    }
    hops.lines.push_back(std::move(line));
    time.lines.push_back(std::move(time_line));
    updates.lines.push_back(std::move(updates_line));
  }
  plot::page page(title_of(plan, surroundings));
  page.add_row({std::move(hops), std::move(time), std::move(updates)});
  return page.svg();
}

std::string differences(const std::vector<comparison>& all) {
  std::string out;
  for (const comparison& each : all) {
    for (std::size_t index = 0; index < each.predicted.size(); ++index) {
      const stop now = each.at(index), &should = each.predicted[index];
      if (now.costs_as(should)) continue;
      out += fmt::format("after {} moves under {} the counts are not those predicted:\n{}", now.moves,
                         name_of(each.policy), row("  counted (meant)", "", now, should, false));
    }
  }
  return out;
}

}  // namespace hops
