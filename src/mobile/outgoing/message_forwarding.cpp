// SPDX-License-Identifier: Apache-2.0
// Forwarding messages to the place of an object.
#include "mobile/outgoing/message_forwarding.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/marks.hpp"
#include "mobile/entry/path.hpp"

namespace nacre {

namespace {

void note_late(message_kind kind) {
  if (kind == message_kind::everyone) NACRE_MARK("a message to all elements comes to where one has been");
  if (kind == message_kind::lock) NACRE_MARK("main wants an object that leaves");
  if (kind == message_kind::destroy) NACRE_MARK("a destroy comes to where its object has been");
  if (kind == message_kind::claim) NACRE_MARK("a colocation claims an object that leaves");
}

}  // namespace

message_forwarding::message_forwarding(am_engine& messages, const nacre::homes& homes, const location_rules& rules,
                                       const next_hop& hop, message_table& table, location_updates& updates,
                                       source_backlog& backlog, delivery_errors& errors)
    : messages_(messages),
      homes_(homes),
      rules_(rules),
      hop_(hop),
      updates_(updates),
      backlog_(backlog),
      errors_(errors) {
  table.not_here = part_function<void(activation_step&, message_ptr)>::of<&message_forwarding::meet_absence>(*this);
  updates.told = part_function<void(object_id, thread_context&)>::of<&message_forwarding::deliver_awaiting>(*this);
}

/// A message comes to an entry without an object: it is elsewhere, or has ended.
void message_forwarding::meet_absence(activation_step& step, message_ptr m) {
  if (step.entry.location.read().rank == messages_.rank()) {
    NACRE_MARK("a message waits in the inbox of an object that is destroyed");
    return errors_.undeliverable(step.thread, std::move(m));
  }
  NACRE_MARK("a message meets an object that has just departed");
  forward(step.entry, step.thread, std::move(m));
}

void message_forwarding::forward(object_entry& entry, thread_context& thread, message_ptr m) {
  const known_location location = entry.location.read();
  if (location.gone) return errors_.undeliverable(thread, std::move(m));
  note_late(m->header.kind);
  if (backlog_.goes_back(location, m->header)) return backlog_.return_to_source(thread, std::move(m));
  if (!messages_.by_pointer()) m = am_engine::packed_to_leave(std::move(m));
  if (homes_.home_is_here(entry.id) && home_waiting_messages::missing(location, m->header)) {
    NACRE_MARK("a message waits at the home of its object for news of it");
    m = news_.wait(entry.id, entry.location, std::move(m));
    if (m != nullptr) messages_.objects().accept(thread, std::move(m));
    return;
  }
  if (m->header.hops < 255) ++m->header.hops;
  thread.counters().hops.add(1);
  thread.counters().forwards.add(1);
  messages_.pool().charge_own(own_work::forward);
  const rank_id target = hop_.of(entry, location, m->header);
  if (rules_[location.policy].keeps().path) {
    m = add_to_path(std::move(m), messages_.rank(), std::min(hop_.hops_max(), path_room_max));
  }
  messages_.route(thread, target, std::move(m));
}

/// Hands on the messages that waited at this home for news of the object.
void message_forwarding::deliver_awaiting(object_id id, thread_context& thread) {
  if (!homes_.home_is_here(id)) return;
  message_list waiting = news_.take(id);
  while (message_ptr m = waiting.pop_front()) messages_.objects().accept(thread, std::move(m));
}

/// Handles a message for an object without an entry on this rank: the home knows that the object has been destroyed;
/// another rank sends the message to the home.
void message_forwarding::route_to_home(object_id id, thread_context& thread, message_ptr m) {
  const rank_id home = homes_.home_of(id);
  if (home == messages_.rank() || !homes_.knows(id)) return errors_.undeliverable(thread, std::move(m));
  if (m->header.hops < 255) ++m->header.hops;
  thread.counters().hops.add(1);
  thread.counters().forwards.add(1);
  // The object may have ended here without its home knowing: then the message would come back, so the news goes first.
  if (updates_.has_news_to_tell()) updates_.flush_to(thread, home);
  messages_.route(thread, home, std::move(m));
}

}  // namespace nacre
