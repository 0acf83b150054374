// SPDX-License-Identifier: Apache-2.0
// Running the messages of objects: the one thread that holds an entry's activation admits, orders and runs them.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "am/am_engine.hpp"
#include "mobile/object/activation_step.hpp"
#include "mobile/object/handler_costs.hpp"
#include "mobile/object/object_hold.hpp"

namespace nacre {

class object_space;

/// Invariant: all events of an object on a rank pass through the inbox of its entry (messages to run, requests to
/// migrate or to end, arrivals), and the entry's activation processes them one at a time. So no two threads ever
/// disagree about the object, and the entry of an object elsewhere simply forwards.
class object_activation {
 public:
  object_activation(object_space& space, am_engine& messages);

  /// The runner of an entry: claims the activation, and runs a step.
  static void activate_work(work& item, thread_context& thread);
  /// Keeps objects from running their messages while an image is taken.
  [[nodiscard]] object_hold& hold() noexcept { return hold_; }
  /// Runs a step of an entry whose activation this thread has claimed, with the messages taken from its inbox.
  /// `may_run`: handlers may run here; else messages are only admitted.
  void run_claimed(object_entry& entry, thread_context& thread, message_list& taken, bool may_run);
  void give_back(object_entry& entry, thread_context& thread, bool may_run);
  /// Gives the activation up, and makes the entry ready.
  void let_go_on(object_entry& entry, thread_context& thread,
                 worker_pool::origin origin = worker_pool::origin::elsewhere);
  [[nodiscard]] bool alone(activation_step& now);
  [[nodiscard]] static streams& all_streams(object_entry& entry);

  struct step_time {
    bool exact, sampled, measured;
    std::uint32_t handler;  ///< of the first message of the step
    std::uint64_t begin;    ///< in ticks of the worker pool
  };
  /// The costs of messages, as far as steps have been measured.
  [[nodiscard]] const handler_costs& costs() const noexcept { return costs_; }
  [[nodiscard]] step_time begin_step(thread_context& thread, const message* first) const;
  struct step_result {
    int run;    ///< messages that the step has run
    bool ours;  ///< the activation and the object are still here
  };
  void end_step(object_entry& entry, thread_context& thread, const step_time& time, const step_result& result);
  /// A coroutine that has waited has ended, after so many seconds.
  void learn_coroutine(object_entry& entry, thread_context& thread, std::uint32_t handler, double seconds);
  /// A coroutine has gone on for so many seconds.
  void note_coroutine_part(object_id object, double seconds) {
    if (observe_step_) observe_step_(object, seconds, 0, 0);
  }
  /// Whether each step of an object must be timed, even where many short ones run one after the other.
  [[nodiscard]] bool times_each_step() const noexcept { return messages_.deferred() || observe_step_ != nullptr; }

  /// Is called after every step of an object that has run messages, with the number of messages, the seconds they took,
  /// and the packed size of the object (0 while other threads may use it). An observer costs each step a look at the
  /// clock and at the object. Set before start.
  using step_observer = std::function<void(object_id, double seconds, std::uint32_t messages, std::uint64_t bytes)>;
  void observe_steps(step_observer observer) { observe_step_ = std::move(observer); }

 private:
  [[nodiscard]] static object_activation& of(thread_context& thread) noexcept;
  static void go_on_work(work& item, thread_context& thread);
  [[nodiscard]] static bool is_to_end(const object_entry& entry);
  void admit(activation_step& now, message_list& taken);
  void put_into_sequence(activation_step& now, message_ptr m);
  [[nodiscard]] bool fulfil_wish(activation_step& now, object_entry_extra& extra);
  step_end drain(activation_step& now, bool may_run);
  step_end run_front(activation_step& now);

  void learn(object_entry& entry, thread_context& thread, const step_time& time, const step_result& result,
             double seconds, double charged);

  object_space& space_;
  am_engine& messages_;
  object_hold hold_;
  handler_costs costs_;
  step_observer observe_step_;  // empty unless asked for
};

}  // namespace nacre
