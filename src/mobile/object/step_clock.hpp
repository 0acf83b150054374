// SPDX-License-Identifier: Apache-2.0
// How long the steps of objects take: for the load of a rank, and for balancers.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include <nacre/ids.hpp>

#include "am/am_engine.hpp"
#include "mobile/entry/object_entry.hpp"
#include "mobile/entry/object_functions.hpp"
#include "mobile/object/handler_costs.hpp"
#include "mobile/object/step_record.hpp"

namespace nacre {

/// Measures steps, and learns from them what messages cost. Steps that run short handlers are measured now and then.
class step_clock {
 public:
  step_clock(am_engine& messages, const object_names& names)
      : messages_(messages),
        names_(names),
        costs_(messages.handlers().handlers(), messages.pool().thread_contexts().size()),
        record_(messages.pool().thread_contexts().size()) {}

  struct step_time {
    bool exact, sampled, measured;
    std::uint32_t handler;  ///< of the first message of the step
    std::uint64_t begin;    ///< in ticks of the worker pool
  };
  /// The costs of messages, as far as steps have been measured.
  [[nodiscard]] const handler_costs& costs() const noexcept { return costs_; }
  /// The recent work of each object, while the record is open.
  [[nodiscard]] step_record& record() noexcept { return record_; }
  /// `first`: the first message of the step, or null.
  [[nodiscard]] step_time begin(thread_context& thread, const message* first) const;
  struct step_result {
    int run;    ///< messages that the step has run
    bool ours;  ///< the activation and the object are still here
  };
  void end(object_entry& entry, thread_context& thread, const step_time& time, const step_result& result);
  /// A coroutine that has waited has ended, after so many seconds.
  void learn_coroutine(object_entry& entry, thread_context& thread, std::uint32_t handler, double seconds);
  /// A part of a coroutine has run for `seconds`. It stands for `accounted` seconds of this and of unmeasured parts
  /// like it.
  void note_coroutine_part(thread_context& thread, object_id object, double seconds, double accounted) {
    if (observe_step_) observe_step_(object, seconds, 0, 0);
    if (record_.is_open() && accounted > 0)
      record_.note(thread.id().value(), object, accounted, messages_.pool().instant());
  }
  /// Whether each step of an object must be timed, even where many short ones run one after the other.
  [[nodiscard]] bool times_each_step() const noexcept { return messages_.deferred() || observe_step_ != nullptr; }
  /// Whether steps must be timed now and then, likewise.
  [[nodiscard]] bool times_steps() const noexcept { return times_each_step() || record_.is_open(); }

  /// Is called after every step of an object that has run messages, with the number of messages, the seconds they took,
  /// and the packed size of the object (0 while other threads may use it). An observer costs each step a look at the
  /// clock and at the object. Set before start.
  using step_observer = std::function<void(object_id, double seconds, std::uint32_t messages, std::uint64_t bytes)>;
  void observe_steps(step_observer observer) { observe_step_ = std::move(observer); }

 private:
  void learn(object_entry& entry, thread_context& thread, const step_time& time, const step_result& result,
             double seconds, double charged);

  am_engine& messages_;
  const object_names& names_;
  handler_costs costs_;
  step_record record_;
  step_observer observe_step_;  // empty unless asked for
};

}  // namespace nacre
