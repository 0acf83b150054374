// SPDX-License-Identifier: Apache-2.0
// Messages that arrive for objects, from other ranks and from this one.
#include "mobile/outgoing/incoming.hpp"

#include <cstdint>
#include <string>
#include <utility>

namespace nacre {
namespace {

/// Bytes copied out of an arrival in about 10 us.
constexpr std::uint32_t unpacked_at_once_max = 64 * 1024;

}  // namespace

void incoming::accept(thread_context& thread, message_ptr m, bool by_handler) {
  const object_id id = object_id::from_value(m->header.object);
  if (m->header.kind == message_kind::arrival) return accept_object(thread, std::move(m));
  if ((m->header.flags & flag_returned) != 0) return backlog_.requeue_returned(thread, std::move(m));
  object_entry* entry = entries_.find(id);
  if (entry == nullptr && id.is_element()) entry = numbers_.place_at_home(id);
  if (entry == nullptr) return forwarding_.route_to_home(id, thread, std::move(m));
  if (entry->location.read().rank != messages_.rank()) return forwarding_.forward(*entry, thread, std::move(m));
  if (by_handler && !thread.in_item() && run_destroy_if_idle(*entry, thread, m)) return;
  activation_.push(*entry, thread, std::move(m), by_handler);
}

/// Has an object that arrives installed. Poll loop.
void incoming::accept_object(thread_context& thread, message_ptr arrival) {
  const object_id id = object_id::from_value(arrival->header.object);
  const bool no_place = id.is_element() && arrays_.find(id) == nullptr;
  if (!homes_.knows(id) || no_place) {
    return messages_.fail("rank " + std::to_string(arrival->header.source) + " sent an object that has no name");
  }
  object_entry& entry =
      homes_.home_is_here(id) ? entries_.find_or_add(id, {messages_.rank(), 0}) : numbers_.entry_elsewhere(id);
  // A large arrival would hold up the poll loop, so an idle worker unpacks it. If no worker is idle the poll loop
  // unpacks it too, because no worker would see the object meanwhile.
  const bool large =
      arrival->packed() && arrival->header.payload_bytes > unpacked_at_once_max && messages_.pool().idle_workers() > 0;
  if (!large && activation_.run_if_idle(entry, thread, arrival, may_run::no)) return;
  activation_.push(entry, thread, std::move(arrival));
}

/// Runs a message of this rank that comes when no handler runs here: an object that is to end does so at once, as in
/// object_activation::finish_step. False: the object does not wait for messages; push it.
bool incoming::run_destroy_if_idle(object_entry& entry, thread_context& thread, message_ptr& m) {
  const bool ends = m->header.kind == message_kind::destroy && entry.object() != nullptr && !entry.id.is_element();
  return ends && activation_.run_if_idle(entry, thread, m, may_run::yes);
}

/// Of many objects none is in a cache: the waits for their places and entries overlap.
void incoming::prefetch(const message* first) const noexcept {
  for (const message* m = first; m != nullptr; m = m->next) {
    entries_.prefetch_place(object_id::from_value(m->header.object));
  }
  for (const message* m = first; m != nullptr; m = m->next) {
    entries_.prefetch_entry(object_id::from_value(m->header.object));
  }
}

}  // namespace nacre
