// SPDX-License-Identifier: Apache-2.0
// Numbering the messages of this rank to objects, and sending them on their way.
#include "mobile/object/object_sender.hpp"

#include <cstring>
#include <string>
#include <utility>

#include "mobile/directory/epoch_guard.hpp"
#include "mobile/object_space.hpp"

namespace nacre {

object_sender::object_sender(object_space& space, am_engine& messages)
    : space_(space), messages_(messages), remote_(messages.pool().readers()) {}

inline bool object_sender::is_element_elsewhere(object_id id) const noexcept {
  if (!id.is_element()) return false;
  const rank_id home = space_.homes().home_of(id);
  return home != messages_.rank() && home.value() < messages_.size();
}

/// The entry by which this rank sends to an object, for as long as the object may live. A new entry refers to the
/// object's home. Null when this rank is the home and has no entry: the object has been destroyed.
object_entry* object_sender::entry_to_send_by(thread_context& thread, object_id id) {
  for (;;) {
    object_entry* known = space_.entries().find(id);
    if (known == nullptr) known = new_entry_to_send_by(id);
    if (known == nullptr) return nullptr;
    if (known->location.keep()) return known;
    space_.ends().forget(*known, thread);  // it is being collected: the first thread takes it out
  }
}

object_entry* object_sender::new_entry_to_send_by(object_id id) {
  if (space_.is_home_of(id)) return id.is_element() ? space_.places().place_at_home(id) : nullptr;
  if (!space_.homes().knows(id)) return nullptr;
  if (id.is_element() && space_.arrays().find(id) == nullptr) return nullptr;
  return &entry_elsewhere(id);
}

object_entry& object_sender::entry_elsewhere(object_id id) {
  object_entry& entry =
      space_.entries().find_or_add(id, {space_.homes().home_of(id), 0}, &object_activation::activate_work);
  if (is_element_elsewhere(id)) {
    const remote_elements::place known = remote_.find_or_add(id);
    known.note_entry();
    if (known.has_sent())
      static_cast<void>(entry.location.keep());  // else the rank would have to learn it again and again
  }
  return entry;
}

std::atomic<std::uint32_t>& object_sender::next_sequence(object_entry& entry) {
  if (!is_element_elsewhere(entry.id)) return entry.next_sequence;
  const remote_elements::place known = remote_.find(entry.id);
  return known ? known.next_sequence() : entry.next_sequence;  // else its array has ended
}

/// Null for all objects but elements of arrays that have another home.
remote_elements::place object_sender::place_elsewhere(object_id id) {
  if (!is_element_elsewhere(id)) return {};
  if (const remote_elements::place known = remote_.find(id)) return known;
  return space_.arrays().find(id) != nullptr ? remote_.find_or_add(id) : remote_elements::place();
}

/// Reads whether the object is here before it numbers the message: if the object leaves in between, the message is
/// forwarded.
void object_sender::post(thread_context& thread, object_id object, message_ptr m, detail::future_state* result) {
  if (!object.valid()) throw usage_error("a message to a mobile_ptr that names no object (it was default-constructed)");
  const epoch_guard guard(thread);
  const remote_elements::place elsewhere = place_elsewhere(object);
  if (elsewhere && !elsewhere.has_entry()) {
    return post_to_home(thread, object, elsewhere, std::move(m), result);
  }
  object_entry* const entry = entry_to_send_by(thread, object);
  const known_location location = entry != nullptr ? entry->location.read() : known_location{};
  const bool stays = entry != nullptr && location.rank == messages_.rank() && !messages_.deferred();
  const bool of_main = stays && space_.own().bundles_those_of(thread);
  const bool may_join = of_main && !location.backlog && !space_.backlog().any() && space_.bundles().may_join_own(*m);
  if (entry != nullptr && !may_join) m = messages_.prepare(thread, stays, std::move(m));
  messages_.commit(thread, [&] {
    address(thread, object, *m, result);
    if (entry == nullptr) return space_.errors().undeliverable(thread, std::move(m));
    if (stays || location.rank == messages_.rank()) thread.counters().messages_local.add(1);
    std::atomic<std::uint32_t>& next_sequence = elsewhere ? elsewhere.next_sequence() : entry->next_sequence;
    m->header.sequence = next_sequence.fetch_add(1, std::memory_order_relaxed);  // only the number orders messages
    if (may_join) return space_.own().push_of_main(*entry, thread, std::move(m), true);
    if ((location.backlog || space_.backlog().any()) &&
        space_.backlog().keep_at_source(thread, *entry, m, location.backlog, stays || messages_.by_pointer())) {
      return;
    }
    const rank_id next = space_.forwarding().next_rank(*entry, location, m->header);
    if (stays) {
      if (thread.backpressure()) return space_.own().push_under_backpressure(*entry, thread, std::move(m));
      if (space_.own().push_behind_backpressure(*entry, m)) return;
      if (of_main) return space_.own().push_of_main(*entry, thread, std::move(m), false);
      return space_.push(*entry, thread, std::move(m), thread.in_item());
    }
    if (next == messages_.rank() && messages_.deferred() && thread.in_item())
      return space_.own().accept_when_spent(thread, std::move(m));
    if (next != messages_.rank()) thread.counters().hops.add(1);
    messages_.route(thread, next, std::move(m));
  });
}

void object_sender::address(thread_context& thread, object_id object, message& m, detail::future_state* result) {
  m.header.object = object.value();
  m.header.source = messages_.rank().value();
  if (result != nullptr) m.header.reply = messages_.calls().open(*result);
  if (m.counted()) thread.counters().created.add(1);
}

/// Posts a message to an element of which this rank knows no more than its name.
void object_sender::post_to_home(thread_context& thread, object_id object, const remote_elements::place& place,
                                 message_ptr m, detail::future_state* result) {
  m = messages_.prepare(thread, false, std::move(m));
  messages_.commit(thread, [&] {
    address(thread, object, *m, result);
    m->header.sequence =
        place.next_sequence().fetch_add(1, std::memory_order_relaxed);  // only the number orders messages
    thread.counters().hops.add(1);
    messages_.route(thread, space_.homes().home_of(object), std::move(m));
  });
}

void object_sender::post_migrate(thread_context& thread, object_id object, rank_id target, detail::future_state& done) {
  if (target.value() >= messages_.size()) {
    throw usage_error("migrate to rank " + std::to_string(target.value()) + " of a job with " +
                      std::to_string(messages_.size()) + " ranks");
  }
  message_ptr m = make_message(sizeof(std::uint32_t));
  const std::uint32_t rank = target.value();
  std::memcpy(m->body(), &rank, sizeof rank);
  m->header.kind = message_kind::migrate;
  post(thread, object, std::move(m), &done);
}

void object_sender::post_destroy(thread_context& thread, object_id object) {
  message_ptr m = make_message(0);
  m->header.kind = message_kind::destroy;
  post(thread, object, std::move(m));
}
}  // namespace nacre
