// SPDX-License-Identifier: Apache-2.0
// Turns the events of a track into spans of the program's phases.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "trace/trace_log.hpp"

namespace nacre::tool {

/// An interval of one track in which a phase runs, from its begin or a wait to its end or the next wait.
struct phase_span {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t own_ns = 0;   ///< without the phases inside it
  std::uint32_t phase = 0;   ///< in trace_log::phases()
  bool is_first = true;      ///< it begins here; else it goes on after a wait
  bool is_repeated = false;  ///< inside a phase of the same name
  [[nodiscard]] std::int64_t length() const noexcept { return end_ns - begin_ns; }
};

/// Finds the spans of one track. An inner one ends before the one around it.
class phase_finder {
 public:
  /// Takes the next event. Calls emit(phase_span) for a span that the event ends.
  template <class Emit>
  void take(const trace::event& one, Emit emit) {
    if (trace::begins(one.kind)) {
      const bool is_phase = trace::is_phase(one.kind);
      const auto phase = static_cast<std::uint32_t>(is_phase ? one.a : 0);
      if (phase >= running_.size()) running_.resize(phase + std::size_t{1});
      const bool repeated = running_[phase]++ != 0;
      open_.push_back({one.ns, one.ns, 0, phase, one.kind == trace::event_kind::phase_begin, repeated});
    } else if (one.kind == trace::event_kind::end && !open_.empty()) {
      close(one.ns, emit);
    }
  }
  /// The end of the trace ends the phases that are open.
  template <class Emit>
  void finish(std::int64_t end_ns, Emit emit) {
    while (!open_.empty()) close(end_ns, emit);
  }
  /// The innermost phase that runs; 0: none.
  [[nodiscard]] std::uint32_t innermost() const noexcept {
    for (std::size_t index = open_.size(); index-- > 0;) {
      if (open_[index].phase != 0) return open_[index].phase;
    }
    return 0;
  }

 private:
  template <class Emit>
  void close(std::int64_t instant, Emit emit) {
    phase_span last = open_.back();
    open_.pop_back();
    --running_[last.phase];
    if (last.phase == 0) return;
    last.end_ns = std::max(instant, last.begin_ns);
    last.own_ns += last.length();
    for (std::size_t index = open_.size(); index-- > 0;) {
      if (open_[index].phase == 0) continue;
      open_[index].own_ns -= last.length();
      break;
    }
    emit(static_cast<const phase_span&>(last));
  }

  std::vector<phase_span> open_;        // `phase` 0: something else that has begun
  std::vector<std::uint32_t> running_;  // by phase: how many of open_
};

/// Calls on_span for each phase span of a track, in the order in which they end.
template <class OnSpan>
void walk_phases(const trace::trace_log& log, std::size_t track, OnSpan on_span) {
  phase_finder phase_finder;
  log.visit(track, [&](std::span<const trace::event> events) {
    for (const trace::event& each : events) phase_finder.take(each, on_span);
  });
  phase_finder.finish(log.end_ns(), on_span);
}

/// The spans of a track that take time, by begin; an outer one stands before those inside it.
template <class Keep>
std::vector<phase_span> nested_phases(const trace::trace_log& log, std::size_t track, Keep keep) {
  std::vector<phase_span> all;
  walk_phases(log, track, [&](const phase_span& one) {
    if (one.length() > 0 && keep(one)) all.push_back(one);
  });
  std::reverse(all.begin(), all.end());  // of two with the same ends, the outer one comes first now
  std::stable_sort(all.begin(), all.end(), [](const phase_span& a, const phase_span& b) {
    return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.end_ns > b.end_ns;
  });
  return all;
}

/// Cuts the phases of a track at the ends of its segments, so that both nest.
class phase_cutter {
 public:
  /// `all`: as nested_phases returns them.
  explicit phase_cutter(std::vector<phase_span> all) : all_(std::move(all)) {}

  /// Calls change(ns, phase, enters) for what begins and ends in a segment, which come in the order of time. The phases
  /// that are open at its begin are entered there, and those that are open at its end left there.
  template <class Change>
  void cut(std::int64_t begin_ns, std::int64_t end_ns, Change change) {
    std::erase_if(open_, [&](std::size_t each) { return all_[each].end_ns <= begin_ns; });
    for (; next_ < all_.size() && all_[next_].begin_ns < begin_ns; ++next_) {
      if (all_[next_].end_ns > begin_ns) open_.push_back(next_);
    }
    for (const std::size_t each : open_) change(begin_ns, all_[each].phase, true);
    for (;;) {
      const std::int64_t enter = next_ < all_.size() ? all_[next_].begin_ns : end_ns;
      if (!open_.empty() && all_[open_.back()].end_ns <= std::min(enter, end_ns)) {
        change(all_[open_.back()].end_ns, all_[open_.back()].phase, false);
        open_.pop_back();
      } else if (enter < end_ns) {
        change(enter, all_[next_].phase, true);
        open_.push_back(next_++);
      } else {
        break;
      }
    }
    std::for_each(open_.rbegin(), open_.rend(), [&](std::size_t each) { change(end_ns, all_[each].phase, false); });
  }

 private:
  std::vector<phase_span> all_;
  std::size_t next_ = 0;
  std::vector<std::size_t> open_;  // in all_, outermost first
};

}  // namespace nacre::tool
