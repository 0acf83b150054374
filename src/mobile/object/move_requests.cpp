// SPDX-License-Identifier: Apache-2.0
// What balancers ask of objects: to leave, ahead of the messages that wait for them.
#include "mobile/object/move_requests.hpp"

#include <atomic>

#include "base/marks.hpp"

namespace nacre {

bool move_requests::request(thread_context& thread, object_id object, rank_id target, wish_kind wish) {
  object_entry* const entry = entries_.find(object);
  if (entry == nullptr || entry->location.read().rank != messages_.rank()) return false;
  if (object.is_element() && !arrays_.known_everywhere(object)) return false;
  // Before `claim_any` makes the item in the scheduler stale; from then on the item may be dropped at any moment.
  if (!entry->add_reference()) return false;
  object_entry_extra& extra = entry->need_extra();
  extra.wanted.store(wish, std::memory_order_relaxed);  // this and the next are seen by the activation's holder
  extra.wanted_by.store(target.value(), std::memory_order_relaxed);
  message_list taken;
  const inbox::begun begun = entry->arrivals.claim_any(taken);
  if (begun == inbox::begun::from_scheduled) {
    view_.note_stale(1);
  } else {
    entry->release_reference();
  }
  if (begun == inbox::begun::no) {
    NACRE_MARK("a balancer wants an object whose handler runs");
    return true;
  }
  entry->inbox_seconds.store(0);
  activation_.run_step(*entry, thread, taken, may_run::no);
  if (entry->location.read().rank != messages_.rank()) return true;
  const object_entry_extra* const still = entry->extra();
  return still != nullptr && still->wanted_by.load(std::memory_order_relaxed) != object_entry_extra::nobody;
}

void move_requests::end_stale(thread_context& thread, work& item) {
  thread.counters().taken.add(1);  // ready work that no worker will run
  auto& entry = static_cast<object_entry&>(item);
  message_list taken;
  if (entry.arrivals.claim(taken))
    return activation_.run_step(entry, thread, taken, may_run::no);  // messages have come since it was looked at
  view_.note_stale(-1);
  directory::release_later(entry, thread);
}

}  // namespace nacre
