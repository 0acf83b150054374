// SPDX-License-Identifier: Apache-2.0
// A trace as text: the time breakdown of each track, the handlers, and the traffic between ranks.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "tool/report/report.hpp"

namespace nacre::tool {
namespace {

double seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

std::string track_name(const trace::track& thread) {
  switch (thread.kind) {
    case trace::track::role::main:
      return "main";
    case trace::track::role::poll_loop:
      return "poll";
    default:
      return std::to_string(thread.thread);
  }
}

/// The phases, and the time of each rank in each of them; nothing if there are none.
std::string phases_text(const trace::trace_log& log, const survey& sums) {
  const std::vector<std::uint32_t> order = phases_by_time(sums);
  if (order.empty()) return {};
  std::string out = fmt::format("{:>12} {:>12} {:>12} {:>12} {:>12} {:>12} {:>7} {:>9}  phase\n", "phases", "seconds",
                                "with inner", "longest s", "mean a rank", "most a rank", "(rank)", "imbalance");
  for (const std::uint32_t id : order) {
    const phase_sums& one = sums.phases[id];
    const rank_share share = share_of(one, log.job().ranks);
    out += fmt::format("{:>12} {:>12.6f} {:>12.6f} {:>12.6f} {:>12.6f} {:>12.6f} {:>7} {:>9.2f}  {}\n", one.count,
                       seconds(one.own_time), seconds(one.whole), seconds(one.longest), seconds(share.mean_ns),
                       seconds(share.most_ns), share.most_rank, share.imbalance(), log.phases()[id]);
  }
  out += fmt::format("{:>7} {:>12}  phase\n", "rank", "seconds");
  for (const std::uint32_t id : order) {
    for (const auto& [rank, ns] : sums.phases[id].by_rank) {
      out += fmt::format("{:>7} {:>12.6f}  {}\n", rank, seconds(ns), log.phases()[id]);
    }
  }
  return out;
}

/// Messages of which the program wants lines, by handler; nothing if there are none.
std::string traced_text(const trace::trace_log& log, const survey& sums) {
  std::string out = sums.traced_sums.empty() ? "" : fmt::format("{:>12} {:>12}  to handler\n", "lines", "bytes");
  for (const auto& [handler, sum] : sums.traced_sums) {
    out += fmt::format("{:>12} {:>12}  {}\n", sum.count, sum.bytes, handler == 0 ? "?" : log.job().handlers[handler]);
  }
  return out;
}

}  // namespace

std::string text_report(const trace::trace_log& log) {
  const survey sums = take_survey(log);
  std::string out;
  for (const std::string& note : log.notes()) out += "note: " + note + '\n';
  out += fmt::format("{}: {:.6f} s on {} ranks ({}, balancer {})\n", log.job().program, seconds(log.end_ns()),
                     log.job().ranks, log.job().transport, log.job().balancer);
  out += fmt::format("{:>7} {:>6} {:>12} {:>12} {:>12} {:>12} {:>12} {:>9}\n", "rank", "thread", "work s", "main s",
                     "runtime s", "idle s", "handlers", "steals");
  for (std::size_t index = 0; index < sums.tracks.size(); ++index) {
    const track_sums& one = sums.tracks[index];
    out += fmt::format("{:>7} {:>6} {:>12.6f} {:>12.6f} {:>12.6f} {:>12.6f} {:>12} {:>9}\n", log.tracks()[index].rank,
                       track_name(log.tracks()[index]), seconds(one.work), seconds(one.main), seconds(one.runtime),
                       seconds(one.idle), one.handlers, one.steals);
  }
  std::vector<std::size_t> order(sums.handlers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return sums.handlers[a].ns > sums.handlers[b].ns; });
  out += fmt::format("{:>12} {:>12} {:>12}  handler\n", "runs", "seconds", "longest s");
  for (const std::size_t id : order) {
    const handler_sums& one = sums.handlers[id];
    if (one.runs == 0) continue;
    out += fmt::format("{:>12} {:>12.6f} {:>12.6f}  {}{}\n", one.runs, seconds(one.ns), seconds(one.longest),
                       log.job().handlers[id], one.of_runtime ? " (runtime)" : "");
  }
  out += phases_text(log, sums);
  message_sums all;
  for (const auto& [pair, sum] : sums.messages) {
    all.count += sum.count;
    all.bytes += sum.bytes;
  }
  out += fmt::format("{} messages of {} bytes sent, {} objects created, {} migrations, {} waves\n", all.count,
                     all.bytes, sums.created, sums.departures, sums.waves);
  out += traced_text(log, sums);
  return out;
}

}  // namespace nacre::tool
