// SPDX-License-Identifier: Apache-2.0
// Reports on standard error that a job on real threads is in deadlock.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nacre/runtime.hpp>

#include "am/am_engine.hpp"
#include "base/clock.hpp"
#include "base/report_lines.hpp"
#include "mobile/elements/contributions.hpp"
#include "mobile/entry/object_functions.hpp"
#include "mobile/object/message_waits.hpp"
#include "mobile/object/object_activation.hpp"
#include "mobile/object/waiting_report.hpp"
#include "quiescence/deadlock_detector.hpp"

namespace nacre {

/// The deadlock detector as a module of a rank's am engine: provides the detector's messages, the state of the rank,
/// and the names of waiting handlers.
///
/// Only rank 0 reads the clock: after the poll loop has slept, and once in passes_per_clock_read passes, since waves of
/// a quiescence that does not come, or other workers, may keep it awake. Other ranks pay two branches for each pass of
/// the poll loop. Handlers pay nothing: each look compares counters and names that they leave behind anyway.
class deadlock_module final : private quiescence::deadlock_detector::host {
 public:
  using report = quiescence::deadlock_report;
  /// The engine's answers. Called inside the poll loop.
  struct views {
    std::function<quiescence::deadlock_detector::snapshot()> look;
    /// How main waits; nothing while it computes.
    std::function<std::optional<quiescence::main_wait>()> main;
    /// Adds a line for each command that an extension module of this rank has deferred, and for each message that main
    /// has asked for.
    std::function<void(report_lines& report)> name_waiting;
  };
  /// The parts of the objects of the rank that it asks.
  struct objects {
    const object_names& names;
    const message_waits& waits;
    object_activation& activation;
    const contributions& contributed;
    const waiting_report& waiting;
  };
  /// `patience`: how long a deadlock lasts before rank 0 reports it; 0: rank 0 never looks.
  deadlock_module(am_engine& messages, const objects& subjects, const backplane& link, clock& time,
                  std::chrono::nanoseconds patience, views see);

  /// Inside the poll loop, at every pass; returns the latest time of the next call.
  [[nodiscard]] std::chrono::nanoseconds poll(thread_context& thread) {
    if (detector_.wants_look()) [[unlikely]] {
      look(thread);
    }
    if ((objects_.waits.held_up() != 0) != hurried_) [[unlikely]]
      hurry(thread);
    return watches_ || hurries_ ? look_at_clock(thread) : std::chrono::nanoseconds::max();
  }

  // Messages of the same module on other ranks.
  void on_probe(context& ctx, std::uint32_t wave, bool names);
  void on_answer(context& ctx, std::uint32_t wave, const report& sums);
  void on_hurry(context& ctx);
  void on_give_up(context& ctx);

 private:
  void look(thread_context& thread);
  void hurry(thread_context& thread);
  void give_up_from_here(thread_context& thread);
  [[nodiscard]] std::chrono::nanoseconds look_at_clock(thread_context& thread);
  void name_handlers(report& report) const;
  void name_running(report& report) const;

  void send_probe(rank_id child, std::uint32_t wave, bool names) override;
  void send_answer(rank_id parent, std::uint32_t wave, report sums) override;
  report report_of_rank() override;
  std::chrono::nanoseconds now() override { return time_.now(); }
  void give_up_waits() override;
  void tell(const report& all, std::chrono::nanoseconds lasted) override;
  void tell_going_on(std::chrono::nanoseconds lasted) override;

  am_engine& messages_;
  objects objects_;
  const backplane& link_;
  clock& time_;
  const std::chrono::nanoseconds started_;
  const bool watches_;
  bool hurries_ = false;  // rank 0: some rank has asked it to hurry
  bool hurried_ = false;  // this rank has asked, and still has a reason
  views see_;
  quiescence::deadlock_detector detector_;  // used by the poll loop alone, as is the rest
  thread_context* thread_ = nullptr;        // the thread that calls the detector
  bool runs_ = false;                       // main or a worker ran something at the last look
  std::uint64_t waits_seen_ = 0;
  std::uint32_t passes_ = 0;  // passes of the poll loop
};

}  // namespace nacre
