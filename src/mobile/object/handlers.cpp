// SPDX-License-Identifier: Apache-2.0
// The handlers of one object: how they begin, alone or beside others, and how their access ends.
#include <utility>

#include <nacre/assert.hpp>

#include "base/marks.hpp"
#include "mobile/mobile.hpp"

namespace nacre {

object_space::drained object_space::run_exclusive(activation_step& now, const detail::handler_info& row) {
  object_entry& at = now.at;
  if (!row.coroutine) {
    messages_.run(now.on, row, now.pending.pop_front(), at.object());
    check_serialization(at);
    return drained::empty;
  }
  at.exclusive_coroutine.store(object_entry::coroutine::inline_,
                               std::memory_order_relaxed);  // published by the run below
  messages_.run(now.on, row, now.pending.pop_front(), at.object());
  now.put_back();
  auto seen = object_entry::coroutine::inline_;
  // acq_rel: pairs with the exchange in coroutine_ended; the later one lets the activation go on.
  if (at.exclusive_coroutine.compare_exchange_strong(seen, object_entry::coroutine::suspended,
                                                     std::memory_order_acq_rel)) {
    return drained::blocked;
  }
  check_serialization(at);
  now.take_up();
  return drained::empty;
}

/// Runs a shared handler. First gives the activation back, or makes the entry ready if messages wait, so that other
/// handlers may begin beside this one, but none before it: messages start in their order.
object_space::drained object_space::run_shared(activation_step& now, const detail::handler_info& row) {
  object_entry& at = now.at;
  message_ptr m = now.pending.pop_front();
  void* const object = at.object();
  at.gate.enter_shared();
  publish_load(now);
  const bool waiting = !now.pending.empty();
  now.put_back();
  if (waiting || at.arrivals.finish() != inbox::finished::yes) let_go_on(at, now.on);
  messages_.run(now.on, row, std::move(m), object);
  if (!row.coroutine) end_access(at, now.on, &end_shared_work, true);
  return drained::left_to_reader;
}

/// Ends an access after the simulated time that the handler has spent; on real threads at once.
void object_space::end_access(object_entry& at, thread_context& on, work::runner end, bool shared) {
  if (!shared) check_serialization(at);
  if (messages_.pool().ahead()) return later(at, on, end);
  if (!shared || at.gate.leave_shared()) let_go_on(at, on);
}

/// Runs `what` on an entry after the simulated time that has been spent. The entry stays: its gate or its activation is
/// held.
void object_space::later(object_entry& at, thread_context& on, work::runner what) {
  messages_.pool().when_spent(on, work_for(at, what));
}

work& object_space::work_for(const object_entry& at, work::runner what) {
  message_ptr m = make_message(0);
  m->header.object = at.id.value();
  m->run_by(what);
  return *m.release();
}

object_entry& object_space::held_entry(work& item) {
  const message_ptr m(static_cast<message*>(&item));
  object_entry* const at = entries_.find(object_id::from_value(m->header.object));
  NACRE_ASSERT(at != nullptr, "an object went away under its handler");
  return *at;
}

void object_space::end_shared_work(work& item, thread_context& on) {
  object_space& self = on_thread(on);
  object_entry& at = self.held_entry(item);
  if (at.gate.leave_shared()) self.let_go_on(at, on);
}

void object_space::end_exclusive_work(work& item, thread_context& on) {
  object_space& self = on_thread(on);
  self.let_go_on(self.held_entry(item), on);
}

/// Goes on with the step, behind the items that wait.
void object_space::go_on_work(work& item, thread_context& on) {
  object_space& self = on_thread(on);
  message_list none;
  self.run_claimed(self.held_entry(item), on, none, true);
}

void object_space::let_go_on(object_entry& at, thread_context& on) {
  at.arrivals.requeue();
  messages_.pool().make_ready(on, at, worker_pool::origin::elsewhere);
}

void object_space::coroutine_ended(thread_context& on, const message_header& request,
                                   const detail::handler_info& handler) {
  object_entry* const at = entries_.find(object_id::from_value(request.object));
  NACRE_ASSERT(at != nullptr, "an object went away under a coroutine handler");
  if (handler.shared) return end_access(*at, on, &end_shared_work, true);
  // acq_rel: pairs with the exchange in run_exclusive.
  if (at->exclusive_coroutine.exchange(object_entry::coroutine::ended, std::memory_order_acq_rel) ==
      object_entry::coroutine::suspended) {
    end_access(*at, on, &end_exclusive_work, false);
  }
}

}  // namespace nacre
