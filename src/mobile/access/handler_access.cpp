// SPDX-License-Identifier: Apache-2.0
// The handlers of one object: how they begin, alone or beside others, and how their access ends.
#include "mobile/access/handler_access.hpp"

#include <atomic>
#include <string>
#include <utility>

#include <nacre/assert.hpp>

#include "mobile/object/round_trip.hpp"
#include "mobile/object_space.hpp"

namespace nacre {

handler_access& handler_access::of(thread_context& on) noexcept { return object_space::on_thread(on).access(); }

/// If enabled: replaces the object by a copy unpacked from its packed form, so that members that its class forgets are
/// lost here as they would be elsewhere. No other thread has access to the object.
void handler_access::check_serialization(object_entry& at) {
  if (!check_) return;
  void* object = at.object();
  check_object(*messages_.handlers().type(at.type), at.id, object);
  at.set_object(object);
}

void handler_access::check_object(const detail::object_type& type, object_id id, void*& object) {
  if (!check_ || refuses_to_move(type, object, id, space_.arrays())) return;
  if (type.has_addresses) note_addresses(messages_.rank(), type);
  const auto name = object_function{"serialize, or what else its packed form needs,", type, id, &space_.arrays()};
  const std::string found = call_named(name, [&] { return round_trip(type, object); });
  if (found.empty()) return;
  messages_.fail("an object of the class " + std::string(type.name) + " is not the same after it has been packed and " +
                 "unpacked, as when it moves: " + found + " (see what its serialize does)");
}

step_end handler_access::run_exclusive(activation_step& now, const detail::handler_info& row) {
  object_entry& at = now.at;
  if (!row.coroutine) {
    messages_.run(now.on, row, now.pending.pop_front(), at.object());
    check_serialization(at);
    return step_end::empty;
  }
  // relaxed: read and written by the activation; published by the run below.
  const auto before = at.exclusive_coroutine.load(std::memory_order_relaxed);
  NACRE_ASSERT(before == object_entry::coroutine::none || before == object_entry::coroutine::ended,
               "an exclusive coroutine begins while another one has the object");
  at.exclusive_coroutine.store(object_entry::coroutine::inline_, std::memory_order_relaxed);
  messages_.run(now.on, row, now.pending.pop_front(), at.object());
  now.put_back();
  auto seen = object_entry::coroutine::inline_;
  // acq_rel: pairs with object_space::coroutine_ended and message_waits::wait; whichever comes second lets the
  // activation go on.
  if (at.exclusive_coroutine.compare_exchange_strong(seen, object_entry::coroutine::suspended,
                                                     std::memory_order_acq_rel)) {
    return step_end::blocked;
  }
  if (seen == object_entry::coroutine::parked) {
    at.exclusive_coroutine.store(object_entry::coroutine::suspended, std::memory_order_relaxed);  // published by finish
    step_end how = step_end::parked;
    static_cast<void>(space_.waits().holds(now, how));  // clears senders: one of them may keep the message
    return how;
  }
  NACRE_ASSERT(seen == object_entry::coroutine::ended, "an exclusive coroutine neither waits nor has ended");
  check_serialization(at);
  now.take_up();
  return step_end::empty;
}

/// Runs a shared handler. First gives the activation back, or makes the entry ready if messages wait, so that other
/// handlers may begin beside this one, but none before it: messages start in their order.
step_end handler_access::run_shared(activation_step& now, const detail::handler_info& row) {
  object_entry& at = now.at;
  message_ptr m = now.pending.pop_front();
  void* const object = at.object();
  at.gate.enter_shared();
  space_.loads().publish_load(now);
  const bool waiting = !now.pending.empty();
  now.put_back();
  if (waiting || at.arrivals.finish() != inbox::finished::yes) space_.activation().let_go_on(at, now.on);
  messages_.run(now.on, row, std::move(m), object);
  if (!row.coroutine) end_access(at, now.on, &end_shared_work, true);
  return step_end::left_to_reader;
}

/// Ends an access after the simulated time that the handler has spent; on real threads at once.
void handler_access::end_access(object_entry& at, thread_context& on, work::runner end, bool shared) {
  if (!shared) check_serialization(at);
  if (messages_.pool().ahead()) return later(at, on, end);
  if (!shared || at.gate.leave_shared()) space_.activation().let_go_on(at, on);
}

/// Runs `what` on an entry after the simulated time that has been spent. The entry stays: its gate or its activation is
/// held.
void handler_access::later(object_entry& at, thread_context& on, work::runner what) {
  messages_.pool().when_spent(on, work_for(at, what));
}

work& handler_access::work_for(const object_entry& at, work::runner what) {
  message_ptr m = make_message(0);
  m->header.object = at.id.value();
  m->run_by(what);
  return *m.release();
}

object_entry& handler_access::held_entry(work& item) {
  const message_ptr m(static_cast<message*>(&item));
  object_entry* const at = space_.entries().find(object_id::from_value(m->header.object));
  NACRE_ASSERT(at != nullptr, "an object went away under its handler");
  return *at;
}

void handler_access::end_shared_work(work& item, thread_context& on) {
  handler_access& self = of(on);
  object_entry& at = self.held_entry(item);
  if (at.gate.leave_shared()) self.space_.activation().let_go_on(at, on);
}

void handler_access::end_exclusive_work(work& item, thread_context& on) {
  handler_access& self = of(on);
  self.space_.activation().let_go_on(self.held_entry(item), on);
}
}  // namespace nacre
