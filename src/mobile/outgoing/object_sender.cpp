// SPDX-License-Identifier: Apache-2.0
// Numbering the messages of this rank to objects, and sending them on their way.
#include "mobile/outgoing/object_sender.hpp"

#include <atomic>
#include <cstring>
#include <string>
#include <utility>

#include "mobile/directory/epoch_guard.hpp"

namespace nacre {

/// Reads whether the object is here before it numbers the message: if the object leaves in between, the message is
/// forwarded.
void object_sender::post(thread_context& thread, object_id object, message_ptr m, detail::future_state* result) {
  if (!object.valid()) throw usage_error("a message to a mobile_ptr that names no object (it was default-constructed)");
  const epoch_guard guard(thread);
  const remote_elements::place elsewhere = numbers_.place_elsewhere(object);
  if (elsewhere && !elsewhere.has_entry()) {
    return post_to_home(thread, object, elsewhere, std::move(m), result);
  }
  object_entry* const entry = numbers_.entry_to_send_by(thread, object);
  const known_location location = entry != nullptr ? entry->location.read() : known_location{};
  const bool stays = entry != nullptr && location.rank == messages_.rank() && !messages_.deferred();
  const bool of_main = stays && local_.bundles_those_of(thread);
  const bool may_join = of_main && !location.backlog && !backlog_.any() && bundles_.may_join_own(*m);
  if (entry != nullptr && !may_join) m = messages_.prepare(thread, stays, std::move(m));
  messages_.commit(thread, [&] {
    address(thread, object, *m, result);
    if (entry == nullptr) return errors_.undeliverable(thread, std::move(m));
    if (stays || location.rank == messages_.rank()) thread.counters().messages_local.add(1);
    std::atomic<std::uint32_t>& next_sequence = elsewhere ? elsewhere.next_sequence() : entry->next_sequence;
    m->header.sequence = next_sequence.fetch_add(1, std::memory_order_relaxed);  // only the number orders messages
    if (may_join) return local_.append_from_main(*entry, thread, std::move(m), true);
    if ((location.backlog || backlog_.any()) &&
        backlog_.keep_at_source(thread, *entry, m, location.backlog, stays || messages_.by_pointer())) {
      return;
    }
    const rank_id next = hop_.of(*entry, location, m->header);
    if (stays) {
      if (thread.backpressure()) return local_.push_under_backpressure(*entry, thread, std::move(m));
      if (local_.push_behind_backpressure(*entry, m)) return;
      if (of_main) return local_.append_from_main(*entry, thread, std::move(m), false);
      return activation_.push(*entry, thread, std::move(m), thread.in_item());
    }
    if (next == messages_.rank() && messages_.deferred() && thread.in_item())
      return local_.accept_when_spent(thread, std::move(m));
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
    messages_.route(thread, homes_.home_of(object), std::move(m));
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
