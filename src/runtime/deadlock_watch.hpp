// SPDX-License-Identifier: Apache-2.0
// Reports on standard error that a job on real threads is in deadlock.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <nacre/runtime.hpp>

#include "am/am_engine.hpp"
#include "base/clock.hpp"
#include "mobile/object_space.hpp"
#include "quiescence/deadlock_detector.hpp"

namespace nacre {

/// The deadlock detector as a module of a rank's am engine: provides the detector's messages, the state of the rank,
/// and the names of waiting handlers.
///
/// Only rank 0 reads the clock, and only while it is at rest: after the poll loop has slept, and once in
/// passes_per_clock_read passes, since waves of a quiescence that does not come may keep it awake. A busy rank pays two
/// branches for each pass of the poll loop.
class deadlock_watch final : private quiescence::deadlock_detector::host {
 public:
  using report = quiescence::deadlock_report;
  /// The engine's answers. Called inside the poll loop.
  struct views {
    std::function<quiescence::deadlock_detector::snapshot()> look;  ///< of a rank that seems to be at rest
    std::function<quiescence::main_wait()> main;                    ///< how main waits; while the rank is at rest
    /// Appends a line for each command that an extension module of this rank has deferred, up to so many lines in all.
    std::function<void(std::size_t most, std::vector<std::string>& found)> name_deferred;
  };
  /// `patience`: how long a deadlock lasts before rank 0 reports it; 0: rank 0 never looks.
  deadlock_watch(am_engine& messages, object_space& objects, const backplane& link, clock& time,
                 std::chrono::nanoseconds patience, views see);

  /// Inside the poll loop, at every pass; returns the latest time of the next call.
  [[nodiscard]] std::chrono::nanoseconds poll(thread_context& by, bool at_rest) {
    if (detector_.wants_look()) [[unlikely]] {
      look(by, at_rest);
    }
    return watches_ && at_rest ? look_at_clock(by) : std::chrono::nanoseconds::max();
  }

  // Messages of the same module on other ranks.
  void on_probe(context& ctx, std::uint32_t wave, bool names);
  void on_answer(context& ctx, std::uint32_t wave, const report& sums);

 private:
  void look(thread_context& by, bool at_rest);
  [[nodiscard]] std::chrono::nanoseconds look_at_clock(thread_context& by);
  void name_handlers(report& own) const;

  void send_probe(rank_id child, std::uint32_t wave, bool names) override;
  void send_answer(rank_id parent, std::uint32_t wave, report sums) override;
  report report_of_rank() override;
  std::chrono::nanoseconds now() override { return time_.now(); }
  void tell(const report& all, std::chrono::nanoseconds lasted) override;
  void tell_going_on(std::chrono::nanoseconds lasted) override;

  am_engine& messages_;
  object_space& objects_;
  const backplane& link_;
  clock& time_;
  const bool watches_;
  views see_;
  quiescence::deadlock_detector detector_;  // used by the poll loop alone, as is the rest
  thread_context* by_ = nullptr;            // the thread that calls the detector
  std::uint64_t waits_seen_ = 0;
  std::uint32_t passes_ = 0;  // passes of the poll loop at rest, without a sleep
};

}  // namespace nacre
