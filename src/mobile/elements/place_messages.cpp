// SPDX-License-Identifier: Apache-2.0
// A message for all elements, at one of their places.
#include "mobile/elements/place_messages.hpp"

#include <atomic>
#include <cstdint>
#include <utility>

#include "mobile/entry/empty_element.hpp"

namespace nacre {

void place_messages::post(thread_context& thread, object_entry& entry, message_ptr m) {
  address(thread, entry, *m);
  const known_location location = entry.location.read();
  if ((location.backlog || backlog_.any()) && backlog_.keep_at_source(thread, entry, m, location.backlog, false))
    return;
  const rank_id target = location.rank;
  if (target == messages_.rank() && !messages_.deferred())
    return activation_.push(entry, thread, std::move(m), thread.in_item());
  if (target != messages_.rank()) thread.counters().hops.add(1);
  messages_.route(thread, target, std::move(m));
}

/// Addresses a message for all elements to a place, with its number in the stream from this rank.
void place_messages::address(thread_context& thread, object_entry& entry, message& m) {
  thread.counters().created.add(1);
  m.header.object = entry.id.value();
  m.header.source = messages_.rank().value();
  m.header.sequence = entry.next_sequence.fetch_add(1, std::memory_order_relaxed);  // only the number orders messages
  m.header.epoch = entry.location.read().epoch;
}

bool place_messages::run_if_idle(thread_context& thread, object_entry& entry, message_ptr& m,
                                 const detail::handler_info* plain) {
  if (entry.location.read().rank != messages_.rank() || !entry.arrivals.begin_idle()) return false;
  message_list taken;
  if (plain != nullptr && run_plainly(thread, entry, m, *plain)) {
    if (messages_.pool().ahead()) {
      access_.end_when_spent(entry, thread, entry_access::kind::exclusive);
      return true;
    }
    if (entry.extra() == nullptr) {  // else a balancer may want the object
      activation_.finish_step(entry, thread, may_run::no);
      return true;
    }
  } else {
    address(thread, entry, *m);
    taken.push_back(std::move(m));
  }
  activation_.run_step(entry, thread, taken, may_run::yes);
  return true;
}

/// Runs a plain handler without a number in the stream. That is possible when no other thread wants the element, and
/// all messages of this rank to it have come: then there is no message to overtake. Nearly all elements are in this
/// state. False: nothing has happened.
bool place_messages::run_plainly(thread_context& thread, object_entry& entry, message_ptr& m,
                                 const detail::handler_info& handler) {
  // relaxed: a message that another thread numbers at this moment has no order with this one.
  const std::uint32_t sent = entry.next_sequence.load(std::memory_order_relaxed);
  if (entry.extra() != nullptr || entry.object() == nullptr || is_empty_place(entry) || !entry.gate.idle())
    return false;
  if (messages_.held.on()) return false;
  if (!entry.order.has_admitted(messages_.rank().value(), sent)) return false;
  thread.counters().created.add(1);
  m->header.object = entry.id.value();
  m->header.source = messages_.rank().value();
  const step_clock::step_time time = clock_.times_steps() ? clock_.begin(thread, m.get()) : step_clock::step_time{};
  if (messages_.run_and_leave(thread, handler, m, entry.object())) thread.counters().done.add(1);
  access_.check_serialization(entry);
  if (time.measured || thread.charged != 0) {
    clock_.end(entry, thread, time, {.run = 1, .ours = true});
  }
  return true;
}

}  // namespace nacre
