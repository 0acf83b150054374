// SPDX-License-Identifier: Apache-2.0
// Running the messages of objects: the one thread that holds an entry's activation admits, orders and runs them.
#pragma once

#include <atomic>
#include <cstdint>

#include <nacre/runtime.hpp>

#include "am/am_engine.hpp"
#include "mobile/directory/directory.hpp"
#include "mobile/entry/activation_step.hpp"
#include "mobile/object/balancer_view.hpp"
#include "mobile/object/entry_access.hpp"
#include "mobile/object/message_table.hpp"
#include "mobile/object/message_waits.hpp"
#include "mobile/object/object_hold.hpp"
#include "mobile/object/step_clock.hpp"

namespace nacre {

/// Whether handlers may run in a step; else messages are only admitted.
enum class may_run : bool { no, yes };

/// Invariant: all events of an object on a rank pass through the inbox of its entry (messages to run, requests to
/// migrate or to end, arrivals), and the entry's activation processes them one at a time. So no two threads ever
/// disagree about the object, and the entry of an object elsewhere simply forwards.
///
/// It runs the members of objects itself. What else a message may ask, other parts do: see message_table.
class object_activation {
 public:
  object_activation(am_engine& messages, directory& entries, const message_table& table, entry_access& access,
                    message_waits& waits, step_clock& clock, balancer_view& view);

  /// Whether the wishes of balancers count. Any thread.
  void heed_wishes(bool is_on) noexcept { heeds_wishes_.store(is_on, std::memory_order_relaxed); }

  /// The runner of an entry: claims the activation, and runs a step.
  static void activate_work(work& item, thread_context& thread);
  /// The priority of an item, as scheduler_site defines it; `rank` is this rank. An item of an object that is elsewhere
  /// ranks highest: it is short, and other ranks wait for it.
  [[nodiscard]] static double priority_of(const work& item, rank_id rank) noexcept;

  /// Puts a message into the inbox of an entry, and makes the entry ready if it was idle. `by_handler`: a handler of
  /// this rank has sent it.
  void push(object_entry& entry, thread_context& thread, message_ptr m, bool by_handler = false);
  /// A message of one of the internal kinds; its maker counts it.
  [[nodiscard]] static message_ptr notice(message_kind kind, rank_id source = {}, std::uint32_t epoch = 0);
  /// Pushes such a message, and counts it.
  void push_notice(object_entry& entry, thread_context& thread, message_kind kind, rank_id source = {},
                   std::uint32_t epoch = 0);
  /// Runs a step with this message, here and now, if the entry is idle. False: it is not, and nothing has happened.
  [[nodiscard]] bool run_if_idle(object_entry& entry, thread_context& thread, message_ptr& m, may_run handlers);
  /// Runs a step of an entry whose activation this thread has claimed, with the messages taken from its inbox.
  void run_step(object_entry& entry, thread_context& thread, message_list& taken, may_run handlers);
  /// Ends an activation with no messages left. If handlers may run here, an object that is to end does so at once,
  /// without a way through the scheduler: while it waited there it would count as work, and could be given to other
  /// ranks as such.
  void finish_step(object_entry& entry, thread_context& thread, may_run handlers);

  /// A coroutine handler on an object has ended; see object_sink.
  void end_coroutine(thread_context& thread, const message_header& request, const detail::handler_info& handler,
                     double seconds);
  /// Nothing else can happen in the job: coroutines that an ending waits for give up. The poll loop.
  void end_waits(thread_context& thread);

  /// Keeps objects from running their messages while an image is taken.
  void begin_hold() { hold_.begin(); }
  void end_hold(thread_context& thread);

 private:
  [[nodiscard]] static object_activation& of(thread_context& thread) noexcept;
  static void continue_work(work& item, thread_context& thread);
  [[nodiscard]] static bool is_to_end(const object_entry& entry);
  void admit(activation_step& step, message_list& taken);
  void admit_other(activation_step& step, message_ptr m);
  void put_into_sequence(activation_step& step, message_ptr m);
  [[nodiscard]] bool waits_for_message(activation_step& step, step_end& end);
  [[nodiscard]] bool keeps_for_image(activation_step& step);
  [[nodiscard]] bool migrate_for_balancer(activation_step& step, object_entry_extra& extra);
  step_end drain(activation_step& step, may_run handlers);
  step_end run_next(activation_step& step);
  step_end run_member(activation_step& step, const detail::handler_info& row);
  step_end run_other(activation_step& step);
  step_end run_shared(activation_step& step, const detail::handler_info& row);
  step_end run_exclusive(activation_step& step, const detail::handler_info& row);
  step_end refuse(activation_step& step);

  am_engine& messages_;
  directory& entries_;
  const message_table& table_;
  entry_access& access_;
  message_waits& waits_;
  step_clock& clock_;
  balancer_view& view_;
  object_hold hold_;
  std::atomic<bool> heeds_wishes_{true};  // a request of the program; orders nothing
};

}  // namespace nacre
