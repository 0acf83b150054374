// SPDX-License-Identifier: Apache-2.0
// Tells a simulated job in which nothing can happen any more from one in which something takes its time.
#pragma once

#include <chrono>
#include <cstdint>

namespace nacre {

/// Looked at now and then while every main waits. Timers that tick for ever, as balancers have, keep an event loop
/// busy, so that events still happen says nothing. What helps a waiting main on, though, is under way already, a
/// message or the end of a handler, or is caused by something that is, over a few stages. So a stage has passed when
/// all that was under way at its beginning has happened; a job in which no unit of work has ended for so many of them
/// stands still. Single-threaded.
class standstill {
 public:
  /// `done` counts the units of work that have ended, `now` is the time of the running event, `horizon` the latest for
  /// which there is one. True: the job stands still.
  [[nodiscard]] bool seen(std::uint64_t done, std::chrono::nanoseconds now, std::chrono::nanoseconds horizon) noexcept {
    if (done != done_) {
      done_ = done;
      stages_ = 0;
    } else if (now <= stage_end_) {
      return false;
    } else {
      ++stages_;
    }
    stage_end_ = horizon;
    return stages_ >= stages_max;
  }

 private:
  // A question for credit, its answer, the message that waited for it; with room for those that go on to other ranks.
  static constexpr std::uint32_t stages_max = 16;

  std::uint64_t done_ = 0;
  std::uint32_t stages_ = 0;
  std::chrono::nanoseconds stage_end_{0};
};

}  // namespace nacre
