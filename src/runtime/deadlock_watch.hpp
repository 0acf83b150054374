// SPDX-License-Identifier: Apache-2.0
// Says on standard error that a job on real threads stands still.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include <nacre/runtime.hpp>

#include "am/am_engine.hpp"
#include "base/clock.hpp"
#include "mobile/mobile.hpp"
#include "quiescence/deadlock_detector.hpp"

namespace nacre {

/// One rank's part, as a module of its am_engine: gives the detector its messages, its looks and its names.
///
/// Only rank 0 looks at the clock, while it is at rest: when a thread context has come to sleep, and, as waves of a quiescence
/// that does not come may keep it awake, now and then. A rank that works pays two branches a pass of the poll loop.
class deadlock_watch final : private quiescence::deadlock_detector::host {
 public:
  using report = quiescence::deadlock_report;
  /// What the engine knows. Called inside the poll loop.
  struct views {
    std::function<quiescence::deadlock_detector::snapshot()> look;  ///< of a rank that seems to be at rest
    std::function<quiescence::main_wait()> main;                    ///< how main waits; while the rank is at rest
  };
  /// `patience`: how long the job stands still before it is told; 0: rank 0 never looks.
  deadlock_watch(am_engine& messages, const object_space& objects, const backplane& link, clock& time,
                 std::chrono::nanoseconds patience, views see);

  /// Inside the poll loop, at every turn; returns when to call again at the latest.
  [[nodiscard]] std::chrono::nanoseconds poll(thread_context& by, bool at_rest) {
    if (detector_.wants_look()) [[unlikely]] {
      look(by, at_rest);
    }
    return watches_ && at_rest ? look_at_clock(by) : std::chrono::nanoseconds::max();
  }

  // For the parts of other ranks.
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
  const object_space& objects_;
  const backplane& link_;
  clock& time_;
  const bool watches_;
  views see_;
  quiescence::deadlock_detector detector_;  // used by the poll loop alone, as is the rest
  thread_context* by_ = nullptr;            // who calls the detector
  std::uint64_t waits_seen_ = 0;
  std::uint32_t turns_ = 0;  // at rest and awake
};

}  // namespace nacre
