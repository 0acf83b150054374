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

handler_access& handler_access::of(thread_context& thread) noexcept { return object_space::on_thread(thread).access(); }

/// If enabled: replaces the object by a copy unpacked from its packed form, so that members that its class forgets are
/// lost here as they would be elsewhere. No other thread has access to the object.
void handler_access::check_serialization(object_entry& entry) {
  if (!check_) return;
  void* object = entry.object();
  check_object(*messages_.handlers().type(entry.type), entry.id, object);
  entry.set_object(object);
}

void handler_access::check_object(const detail::object_type& type, object_id id, void*& object) {
  if (!check_ || refuses_to_move(type, object, id, space_.arrays())) return;
  if (type.has_addresses) note_addresses(messages_.rank(), type);
  const auto name = object_function{"serialize, or what else its packed form needs,", type, id, &space_.arrays()};
  const std::string match = call_named(name, [&] { return round_trip(type, object); });
  if (match.empty()) return;
  messages_.fail("an object of the class " + std::string(type.name) + " is not the same after it has been packed and " +
                 "unpacked, as when it moves: " + match + " (see what its serialize does)");
}

step_end handler_access::run_exclusive(activation_step& now, const detail::handler_info& row) {
  object_entry& entry = now.at;
  if (!row.coroutine) {
    messages_.run(now.on, row, now.pending.pop_front(), entry.object());
    check_serialization(entry);
    return step_end::empty;
  }
  // relaxed: read and written by the activation; published by the run below.
  const auto coroutine = entry.exclusive_coroutine.load(std::memory_order_relaxed);
  NACRE_ASSERT(coroutine == object_entry::coroutine::none || coroutine == object_entry::coroutine::ended,
               "an exclusive coroutine begins while another one has the object");
  entry.exclusive_coroutine.store(object_entry::coroutine::inline_, std::memory_order_relaxed);
  messages_.run(now.on, row, now.pending.pop_front(), entry.object());
  now.put_back();
  auto seen = object_entry::coroutine::inline_;
  // acq_rel: pairs with object_space::coroutine_ended and message_waits::wait; whichever comes second lets the
  // activation go on.
  if (entry.exclusive_coroutine.compare_exchange_strong(seen, object_entry::coroutine::suspended,
                                                        std::memory_order_acq_rel)) {
    return step_end::blocked;
  }
  if (seen == object_entry::coroutine::parked) {
    entry.exclusive_coroutine.store(object_entry::coroutine::suspended,
                                    std::memory_order_relaxed);  // published by finish
    step_end manner = step_end::parked;
    static_cast<void>(space_.waits().holds(now, manner));  // clears senders: one of them may keep the message
    return manner;
  }
  NACRE_ASSERT(seen == object_entry::coroutine::ended, "an exclusive coroutine neither waits nor has ended");
  check_serialization(entry);
  now.take_up();
  return step_end::empty;
}

/// Runs a shared handler. First gives the activation back, or makes the entry ready if messages wait, so that other
/// handlers may begin beside this one, but none before it: messages start in their order.
step_end handler_access::run_shared(activation_step& now, const detail::handler_info& row) {
  object_entry& entry = now.at;
  message_ptr m = now.pending.pop_front();
  void* const object = entry.object();
  entry.gate.enter_shared();
  space_.loads().publish_load(now);
  const bool waiting = !now.pending.empty();
  now.put_back();
  if (waiting || entry.arrivals.finish() != inbox::finished::yes) space_.activation().let_go_on(entry, now.on);
  messages_.run(now.on, row, std::move(m), object);
  if (!row.coroutine) end_access(entry, now.on, &end_shared_work, true);
  return step_end::left_to_reader;
}

/// Ends an access after the simulated time that the handler has spent; on real threads at once.
void handler_access::end_access(object_entry& entry, thread_context& thread, work::runner end, bool shared) {
  if (!shared) check_serialization(entry);
  if (messages_.pool().ahead()) return later(entry, thread, end);
  if (!shared || entry.gate.leave_shared()) space_.activation().let_go_on(entry, thread);
}

/// Runs `function` on an entry after the simulated time that has been spent. The entry stays: its gate or its
/// activation is held.
void handler_access::later(object_entry& entry, thread_context& thread, work::runner function) {
  messages_.pool().when_spent(thread, work_for(entry, function));
}

work& handler_access::work_for(const object_entry& entry, work::runner function) {
  message_ptr m = make_message(0);
  m->header.object = entry.id.value();
  m->run_by(function);
  return *m.release();
}

object_entry& handler_access::held_entry(work& item) {
  const message_ptr m(static_cast<message*>(&item));
  object_entry* const entry = space_.entries().find(object_id::from_value(m->header.object));
  NACRE_ASSERT(entry != nullptr, "an object went away under its handler");
  return *entry;
}

void handler_access::end_shared_work(work& item, thread_context& thread) {
  handler_access& self = of(thread);
  object_entry& entry = self.held_entry(item);
  if (entry.gate.leave_shared()) self.space_.activation().let_go_on(entry, thread);
}

void handler_access::end_exclusive_work(work& item, thread_context& thread) {
  handler_access& self = of(thread);
  self.space_.activation().let_go_on(self.held_entry(item), thread);
}
}  // namespace nacre
