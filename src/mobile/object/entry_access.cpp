// SPDX-License-Identifier: Apache-2.0
// How access to an object is taken and given back.
#include "mobile/object/entry_access.hpp"

#include <string>
#include <utility>

#include "mobile/entry/held_work.hpp"
#include "mobile/object/round_trip.hpp"

namespace nacre {

bool entry_access::try_exclusive(activation_step& step) {
  if (!step.entry.gate.idle()) {
    step.put_back();
    if (!step.entry.gate.try_exclusive()) return false;
    step.take_up();
  }
  step.wish_waits = false;  // the last reader may have left without a word of it
  return true;
}

void entry_access::reschedule(object_entry& entry, thread_context& thread, worker_pool::origin origin) {
  entry.arrivals.requeue();
  messages_.pool().make_ready(thread, entry, origin);
}

void entry_access::end(object_entry& entry, thread_context& thread, kind access) {
  const bool shared = access == kind::shared;
  if (!shared) check_serialization(entry);
  if (messages_.pool().ahead()) return end_when_spent(entry, thread, access);
  if (shared) return leave_shared(entry, thread);
  reschedule(entry, thread);
}

void entry_access::leave_shared(object_entry& entry, thread_context& thread) {
  switch (entry.gate.leave_shared()) {
    case access_gate::left::nothing:
      return;
    case access_gate::left::activation:
      return reschedule(entry, thread);
    case access_gate::left::wish:
      message_ptr notice = make_message(0);
      notice->header.kind = look_again;
      notice->header.source = messages_.rank().value();
      thread.counters().created.add(1);
      if (entry.arrivals.push(notice.release())) messages_.pool().make_ready(thread, entry);
  }
}

void entry_access::end_when_spent(object_entry& entry, thread_context& thread, kind access) {
  const work::runner function = access == kind::shared ? &end_shared_work : &end_exclusive_work;
  messages_.pool().when_spent(thread, held_work<entry_access>::make(*this, entry, function));
}

void entry_access::end_shared_work(work& item, thread_context& thread) {
  const auto [access, entry] = held_work<entry_access>::take(item);
  access->leave_shared(*entry, thread);
}

void entry_access::end_exclusive_work(work& item, thread_context& thread) {
  const auto [access, entry] = held_work<entry_access>::take(item);
  access->reschedule(*entry, thread);
}

void entry_access::check_serialization(object_entry& entry) {
  if (!check_) return;
  void* object = entry.object();
  check_object(*messages_.handlers().type(entry.type), entry.id, object);
  entry.set_object(object);
}

void entry_access::check_object(const detail::object_type& type, object_id id, void*& object) {
  if (!check_ || refuses_to_move(type, object, id, names_)) return;
  if (type.has_addresses) note_addresses(messages_.rank(), type);
  const auto name = object_function{"serialize, or what else its packed form needs,", type, id, &names_};
  const std::string match = call_named(name, [&] { return round_trip(type, object); });
  if (match.empty()) return;
  messages_.fail("an object of the class " + std::string(type.name) + " is not the same after it has been packed and " +
                 "unpacked, as when it moves: " + match + " (see what its serialize does)");
}

}  // namespace nacre
