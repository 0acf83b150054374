// SPDX-License-Identifier: Apache-2.0
// Access of a main to an object: requested by a message in the object's stream, granted on main's rank, given back.
#include "mobile/colocate/main_lock.hpp"

#include <string>
#include <utility>

#include <nacre/assert.hpp>

#include "base/marks.hpp"
#include "mobile/directory/epoch_guard.hpp"

namespace nacre {

main_lock::main_lock(am_engine& messages, directory& entries, message_table& table, entry_access& access,
                     departures& departing, object_sender& sender)
    : messages_(messages), entries_(entries), access_(access), departures_(departing), sender_(sender) {
  table.set_run({receiver::object, receiver::element}, message_kind::lock,
                message_table::run_function::of<&main_lock::run_request>(*this), false);
}

void main_lock::request(thread_context& thread, object_id object, detail::object_access object_access,
                        detail::future_state& granted) {
  if (!object.valid()) throw usage_error("a lock of a mobile_ptr that names no object (it was default-constructed)");
  message_ptr m = make_message(0);
  m->header.kind = message_kind::lock;
  m->header.handler = static_cast<std::uint32_t>(object_access);
  m->header.reply = messages_.calls().open(granted);
  lock_asked_.store(m->header.reply, std::memory_order_relaxed);  // ordered before its reader by the message
  sender_.post(thread, object, std::move(m));
}

/// Handles a lock request at the front: sends the object, with the request, to the rank of the requesting main, or
/// grants the access there. After the reply to main, an exclusive access belongs to main, which may have given it back
/// already.
step_end main_lock::run_request(activation_step& step) {
  const message_header header = step.pending.front()->header;
  const bool shared = header.handler == static_cast<std::uint32_t>(detail::object_access::shared);
  const bool is_here = header.source == messages_.rank().value();
  const bool asked = !is_here || header.reply == lock_asked_.load(std::memory_order_relaxed);  // see request
  if (header.source >= messages_.size() || !asked) {
    static_cast<void>(step.pending.pop_front());
    messages_.fail("an object was asked to come to the main of a rank that has not asked for it");
    return step_end::empty;
  }
  if ((!is_here || !shared) && !entry_access::try_exclusive(step)) {
    NACRE_MARK("main, which wants an object, waits for shared handlers");
    return step_end::blocked;
  }
  if (!is_here) {
    NACRE_MARK("main wants an object that is elsewhere");
    const std::string reason = departures_.leave_for(step, rank_id(header.source), {});
    if (reason.empty()) return step_end::empty;
    static_cast<void>(step.pending.pop_front());
    messages_.post_failure(step.thread, header, "the object cannot come: " + reason);
    step.thread.counters().done.add(1);
    return step_end::empty;
  }
  static_cast<void>(step.pending.pop_front());
  if (shared) {
    step.entry.gate.enter_shared(access_gate::reader::coroutine);  // main may await what comes later
  } else {
    step.put_back();
  }
  thread_context& thread = step.thread;
  messages_.post_reply(thread, header, make_message(0));
  thread.counters().done.add(1);
  return shared ? step_end::empty : step_end::blocked;
}

main_lock::held_object main_lock::locked(thread_context& thread, object_id object) {
  const epoch_guard guard(thread);
  const object_entry* const entry = entries_.find(object);
  NACRE_ASSERT(entry != nullptr && entry->object() != nullptr, "an object went away under its lock");
  return {entry->object(), *messages_.handlers().type(entry->type)};
}

void main_lock::unlock(thread_context& thread, object_id object, detail::object_access object_access) {
  const epoch_guard guard(thread);
  object_entry* const entry = entries_.find(object);
  NACRE_ASSERT(entry != nullptr, "an object went away under its lock");
  if (!messages_.deferred()) return access_.end(*entry, thread, object_access);
  if (object_access == detail::object_access::exclusive) access_.check_serialization(*entry);
  access_.end_when_spent(*entry, thread, object_access);  // main's time may be ahead even of a lone worker's
}

}  // namespace nacre
