// SPDX-License-Identifier: Apache-2.0
// New objects, and messages that arrive for objects.
#include "mobile/object_space.hpp"

#include <cstring>
#include <string>
#include <utility>

#include <nacre/assert.hpp>

#include "mobile/directory/epoch_guard.hpp"

namespace nacre {

object_space::object_space(am_engine& messages, const options& limits)
    : messages_(messages),
      homes_(messages.size(), limits.homes),
      rules_(limits.location),
      entries_(messages.pool().readers()),
      sender_(*this, messages),
      activation_(*this, messages),
      bundles_(*this, messages),
      access_(*this, messages, limits.check_serialization),
      waits_(*this, messages),
      locks_(*this, messages),
      migration_(*this, messages),
      ends_(*this, messages),
      forwarding_(*this, messages, {.hops_max = limits.hops_max, .kept_max = limits.forwarding_max}),
      updates_(*this, messages),
      backlog_(*this, messages),
      own_(*this, messages),
      arrays_(messages, *this),
      places_(*this, messages),
      contributed_(*this, messages),
      colocations_(*this, messages),
      loads_(*this, messages),
      traffic_(*this),
      errors_(*this, messages) {
  messages_.attach_objects(*this);
}

/// Nothing runs any more. References that wait for readers end before the directory deletes the remaining entries.
object_space::~object_space() {
  for (const auto& each : messages_.pool().thread_contexts()) each->reader().collect();
}

object_id object_space::adopt(thread_context& thread, const detail::object_type& type, void* object,
                              location_policy wanted) {
  object_state state;
  state.object = object;
  state.type = &type;
  state.policy = rules_.meant(wanted == location_policy::of_program ? type.location : wanted);
  const epoch_guard guard(thread);
  const std::uint64_t index = last_index_.fetch_add(1, std::memory_order_relaxed) + 1;  // only uniqueness matters
  const object_id id = homes_.new_name(messages_.rank(), index);
  NACRE_ASSERT(!id.is_element(), "a rank has made more objects than it has names for");
  install_new(thread, id, std::move(state));
  return id;
}

/// Calls the functions of the class first: as long as they may throw, no other thread knows the object. Holds the
/// activation until the object is complete: a balancer that finds the object earlier could take it away.
object_entry& object_space::install_new(thread_context& thread, object_id id, object_state state) {
  const detail::object_type& type = *state.type;
  access().check_object(type, id, state.object);
  const object_declaration said = declared_by(type, state.object, id, arrays_);
  object_entry& entry =
      entries_.add(id, {messages_.rank(), 1, state.policy}, &object_activation::activate_work, inbox::first::running);
  entry.put_state(state);
  messages_.pool().charge_own(own_work::create);
  thread.record(trace::event_kind::create, id.value());
  if (declares(type)) loads().publish(entry, said);
  activation().give_back(entry, thread, false);
  return entry;
}

void object_space::push(object_entry& entry, thread_context& thread, message_ptr m, bool by_handler) {
  using origin = worker_pool::origin;
  const bool first = m->header.kind == message_kind::object && m->header.sequence == 0 && !entry.id.is_element() &&
                     entry.id.birth() == messages_.rank();  // this rank has made the object, whatever its home is
  const origin source = !by_handler ? origin::elsewhere : first ? origin::birth : origin::handler;
  if (m->header.kind == message_kind::object) {
    entry.inbox_seconds.add(activation_.costs().of(m->header.handler), m->header.sequence);
  }
  if (entry.arrivals.push(m.release())) messages_.pool().make_ready(thread, entry, source);
}

bool object_space::is_local(thread_context& thread, object_id object) noexcept {
  const epoch_guard guard(thread);
  const object_entry* entry = entries_.find(object);
  if (entry == nullptr) return false;
  const known_location location = entry->location.read();
  // An object that leaves is away from its entry before it is sent, and the new location is learned afterwards; a
  // thread that has waited for the migration may look in between.
  return location.rank == messages_.rank() && !location.gone && entry->object() != nullptr;
}

/// Of many objects none is in a cache: the waits for their places and entries overlap.
void object_space::prefetch(const message* first) const noexcept {
  for (const message* m = first; m != nullptr; m = m->next) {
    entries_.prefetch_place(object_id::from_value(m->header.object));
  }
  for (const message* m = first; m != nullptr; m = m->next) {
    entries_.prefetch_entry(object_id::from_value(m->header.object));
  }
}

void object_space::accept(thread_context& thread, message_ptr m, bool by_handler) {
  const object_id id = object_id::from_value(m->header.object);
  if (m->header.kind == message_kind::arrival) return migration().receive(thread, std::move(m));
  if ((m->header.flags & flag_returned) != 0) return backlog().take_back(thread, std::move(m));
  object_entry* entry = entries_.find(id);
  if (entry == nullptr && id.is_element()) entry = places().place_at_home(id);
  if (entry == nullptr) return forwarding().refer_to_home(id, thread, std::move(m));
  if (entry->location.read().rank != messages_.rank()) return forwarding().forward(*entry, thread, std::move(m));
  if (by_handler && !thread.in_item() && own().end_idle(*entry, thread, m)) return;
  push(*entry, thread, std::move(m), by_handler);
}

void object_space::coroutine_ended(thread_context& thread, const message_header& request,
                                   const detail::handler_info& handler, double seconds) {
  object_entry* const entry = entries_.find(object_id::from_value(request.object));
  NACRE_ASSERT(entry != nullptr, "an object went away under a coroutine handler");
  if (seconds > 0) activation().learn_coroutine(*entry, thread, request.handler, seconds);
  if (handler.shared) return access().end_access(*entry, thread, &handler_access::end_shared_work, true);
  // acq_rel: pairs with the exchange in run_exclusive.
  const auto coroutine = entry->exclusive_coroutine.exchange(object_entry::coroutine::ended, std::memory_order_acq_rel);
  NACRE_ASSERT(coroutine == object_entry::coroutine::inline_ || coroutine == object_entry::coroutine::suspended,
               "an exclusive coroutine ended that did not have its object");
  if (coroutine == object_entry::coroutine::suspended) {
    access().end_access(*entry, thread, &handler_access::end_exclusive_work, false);
  }
}
}  // namespace nacre
