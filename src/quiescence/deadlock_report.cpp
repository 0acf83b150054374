// SPDX-License-Identifier: Apache-2.0
// Adds up reports, and puts them into words.
#include "quiescence/deadlock_report.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace nacre::quiescence {
namespace {

constexpr std::array<std::string_view, main_waits> in_words{"main waits for a result", "main waits for quiescence",
                                                            "main waits in a collective", "main waits for room to send",
                                                            "main has ended"};

std::string counted(std::uint64_t count, std::string_view noun, std::string_view one, std::string_view many) {
  return fmt::format("{} {}{} {}", count, noun, count == 1 ? "" : "s", count == 1 ? one : many);
}

std::string text_of(const deadlock_report::rank_list& ranks) {
  std::string text = ranks.count == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < ranks.first.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(ranks.first[i]);
  if (ranks.count > ranks.first.size()) text += fmt::format(" and {} more", ranks.count - ranks.first.size());
  return text;
}

std::string seconds(std::chrono::nanoseconds time) {
  const double all = std::chrono::duration<double>(time).count();
  return all < 100 ? fmt::format("{:.3g} s", all) : fmt::format("{:.0f} s", all);
}

/// How the mains wait, in words.
std::string mains_of(const deadlock_report& all) {
  std::string text;
  for (std::size_t mode = 0; mode < main_waits; ++mode) {
    if (all.mains[mode].count == 0) continue;
    text += fmt::format("{}{} on {}", text.empty() ? "" : ", ", in_words[mode], text_of(all.mains[mode]));
  }
  return text;
}

/// No deadlock as yet: all others wait for code that runs.
std::string line_of_running(const deadlock_report& all, std::chrono::nanoseconds lasted,
                            std::chrono::nanoseconds since) {
  std::string text = fmt::format(
      "nacre: the job waits for code that has not returned for {}, since {} after the start: ", seconds(lasted),
      seconds(since));
  for (std::size_t i = 0; i < all.unreturned.size(); ++i) text += (i == 0 ? "" : "; ") + all.unreturned[i];
  if (all.running > all.unreturned.size()) text += fmt::format("; {} in all", all.running);
  for (const report_lines::line& each : all.handlers.lines()) text += "; " + each.text;
  if (const std::string mains = mains_of(all); !mains.empty()) text += "; " + mains;
  return text +
         ". Code that waits by a lock, a semaphore or a promise keeps its thread from all other work: a handler waits "
         "by "
         "co_await, main by get() of a nacre::future. --nacre.deadlock_patience=0s turns this line off\n";
}

}  // namespace

void deadlock_report::note_main(rank_id rank, main_wait main_wait) {
  rank_list& list = mains.at(static_cast<std::size_t>(main_wait));
  ++list.count;
  if (list.first.size() < ranks_told_max) list.first.push_back(rank.value());
}

void deadlock_report::add(const deadlock_report& more) {
  still = still && more.still;
  units.created += more.units.created;
  units.done += more.units.done;
  running += more.running;
  waiting += more.waiting;
  held_up += more.held_up;
  asked += more.asked;
  calls += more.calls;
  commands += more.commands;
  awaited += more.awaited;
  self_calls += more.self_calls;
  for (std::size_t mode = 0; mode < main_waits; ++mode) {
    rank_list& list = mains[mode];
    list.count += more.mains[mode].count;
    list.first.insert(list.first.end(), more.mains[mode].first.begin(), more.mains[mode].first.end());
    std::sort(list.first.begin(), list.first.end());
    list.first.resize(std::min(list.first.size(), ranks_told_max));
  }
  unreturned.insert(unreturned.end(), more.unreturned.begin(), more.unreturned.end());
  unreturned.resize(std::min(unreturned.size(), handlers_told_max));
  handlers.add(more.handlers);
}

std::string line_of_deadlock(const deadlock_report& all, std::chrono::nanoseconds lasted,
                             std::chrono::nanoseconds since) {
  if (all.running != 0) return line_of_running(all, lasted, since);
  std::string text = fmt::format("nacre: nothing has happened for {}, though ", seconds(lasted));
  const std::uint64_t open = all.units.created - all.units.done;
  if (open != 0 || all.asked == 0) text += counted(open, "message", "has", "have") + " not been dealt with to the end";
  if (all.asked != 0) {
    text += (open != 0 ? " and " : "") + counted(all.asked, "message", "has", "have") + " not come that main asked for";
  }
  const std::uint64_t calls = all.calls - std::min(all.calls, all.commands);
  if (calls != 0) text += " and " + counted(calls, "call", "has", "have") + " no result";
  if (all.commands != 0) {
    text += " and " + counted(all.commands, "command", "to extension modules has", "to extension modules have") +
            " no answer";
  }
  text += ": ";
  for (const report_lines::line& each : all.handlers.lines()) text += each.text + "; ";
  if (all.awaited > all.handlers.lines().size()) text += fmt::format("{} handlers await calls in all; ", all.awaited);
  text += mains_of(all);
  if (all.self_calls != 0) {
    text += ". A handler that awaits its own object waits for ever: let it call the member function itself";
  } else if (all.commands != 0) {
    text += ". A command that a module has deferred waits until the module answers it by reply or fail";
  } else if (all.asked != 0 && open == 0) {
    text += ". Main waits until somebody sends a message with that number";
  } else if (all.awaited == 0 && !all.handlers.lines().empty()) {
    text +=
        ". What they wait for has not been sent, or with another number, or to another element; a step of "
        "contributions is complete when every element has given a value";
  } else {
    text += ". A handler that awaits its own object, or objects that await each other, wait for ever";
  }
  return text + ". --nacre.deadlock_patience=0s turns this line off\n";
}

std::string line_of_going_on(std::chrono::nanoseconds lasted) {
  return fmt::format("nacre: work goes on after {}\n", seconds(lasted));
}

}  // namespace nacre::quiescence
