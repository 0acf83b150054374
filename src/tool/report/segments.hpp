// SPDX-License-Identifier: Apache-2.0
// Turns the events of a track into segments of time, each with one activity.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "trace/trace_log.hpp"

namespace nacre::tool {

/// The activity of a thread at one moment, in the categories of PREMA's time breakdowns.
enum class doing : std::uint8_t {
  nothing,  ///< the thread has not begun, or has ended; the main waits; the poll loop has nothing to handle
  work,     ///< a handler of the program
  main,     ///< the application's main
  runtime,  ///< all that the runtime does between handlers, and its own handlers
  idle      ///< the worker looks for work or sleeps
};

/// An interval of one track with one activity. `handler`: the handler that runs, of the program or the runtime; else 0.
struct segment {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  doing kind = doing::nothing;
  std::uint32_t handler = 0;
  [[nodiscard]] std::int64_t length() const noexcept { return end_ns - begin_ns; }
};

/// Cuts the time of one track into segments, none of them empty. A handler that runs inside another activity cuts that
/// activity in two; for example, handlers of the runtime run in the poll loop of an idle worker. Phases cut nothing.
class segmenter {
 public:
  explicit segmenter(trace::track::role role)
      : idle_(role == trace::track::role::worker ? doing::runtime : doing::nothing) {
    now_.kind = role == trace::track::role::worker ? doing::idle : doing::nothing;
  }

  /// Takes the next event. Calls emit(segment) for a segment that the event ends.
  template <class Emit>
  void take(const trace::event& one, Emit emit) {
    using trace::event_kind;
    if (trace::is_phase(one.kind)) {
      open_.push_back(current());
      open_.back().is_phase = true;
      return;
    }
    if (one.kind == event_kind::end) {
      const bool was_phase = !open_.empty() && open_.back().is_phase;
      if (!open_.empty()) open_.pop_back();
      if (was_phase) return;
    } else if (trace::begins(one.kind)) {
      open_.push_back(meaning_of(one));
    } else {
      return;
    }
    change(one.ns, current(), emit);
  }
  /// The end of the trace. The last segment is `nothing` if no activity is open.
  template <class Emit>
  void finish(std::int64_t end_ns, Emit emit) {
    if (open_.empty()) now_.kind = doing::nothing;
    change(end_ns, {doing::nothing, 0}, emit);
  }

 private:
  struct activity {
    doing kind;
    std::uint32_t handler;
    bool is_phase = false;  // a phase of the program, inside that activity
  };
  [[nodiscard]] activity current() const { return open_.empty() ? activity{idle_, 0} : open_.back(); }
  static activity meaning_of(const trace::event& one) noexcept {
    const auto handler = static_cast<std::uint32_t>(one.a);
    switch (one.kind) {
      case trace::event_kind::handler_begin:
      case trace::event_kind::resume_begin:
        return {doing::work, handler};
      case trace::event_kind::module_begin:
        return {doing::runtime, handler};
      case trace::event_kind::idle_begin:
        return {doing::idle, 0};
      case trace::event_kind::main_begin:
        return {doing::main, 0};
      default:
        return {doing::runtime, 0};
    }
  }
  template <class Emit>
  void change(std::int64_t instant, activity activity, Emit emit) {
    now_.end_ns = std::max(instant, now_.begin_ns);
    if (now_.length() != 0) emit(static_cast<const segment&>(now_));
    now_ = {now_.end_ns, now_.end_ns, activity.kind, activity.handler};
  }

  doing idle_;  // while no activity is open
  segment now_;
  std::vector<activity> open_;
};

/// Calls on_segment for each segment of a track, and on_event for each event, both in the order of time.
template <class OnSegment, class OnEvent>
void walk(const trace::trace_log& log, std::size_t track, OnSegment on_segment, OnEvent on_event) {
  segmenter thread(log.tracks()[track].kind);
  log.visit(track, [&](std::span<const trace::event> events) {
    for (const trace::event& each : events) {
      thread.take(each, on_segment);
      on_event(each);
    }
  });
  thread.finish(log.end_ns(), on_segment);
}

}  // namespace nacre::tool
