// SPDX-License-Identifier: Apache-2.0
// Sending to objects, and the reports of other ranks about them.
#include "mobile/object_space.hpp"

#include <cstring>
#include <string>
#include <utility>

#include <nacre/assert.hpp>

#include "mobile/directory/epoch_guard.hpp"

namespace nacre {

object_space::object_space(am_engine& messages, const options& limits)
    : messages_(messages),
      rules_(limits.location),
      entries_(messages.pool().readers()),
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

object_id object_space::adopt(thread_context& on, const detail::object_type& type, void* object,
                              location_policy wanted) {
  object_state state;
  state.object = object;
  state.type = &type;
  state.policy = rules_.meant(wanted == location_policy::of_program ? type.location : wanted);
  const epoch_guard guard(on);
  const std::uint64_t index = last_index_.fetch_add(1, std::memory_order_relaxed) + 1;  // only uniqueness matters
  const object_id id(messages_.rank(), index);
  NACRE_ASSERT(!id.is_element(), "a rank has made more objects than it has names for");
  install_new(on, id, std::move(state));
  return id;
}

/// Calls the functions of the class first: as long as they may throw, no other thread knows the object. Holds the
/// activation until the object is complete: a balancer that finds the object earlier could take it away.
object_entry& object_space::install_new(thread_context& on, object_id id, object_state state) {
  const detail::object_type& type = *state.type;
  access().check_object(type, id, state.object);
  const object_declaration said = declared_by(type, state.object, id, arrays_);
  object_entry& at =
      entries_.add(id, {messages_.rank(), 1, state.policy}, &object_activation::activate_work, inbox::first::running);
  at.put_state(state);
  messages_.pool().charge_own(own_work::create);
  on.record(trace::event_kind::create, id.value());
  if (declares(type)) loads().publish(at, said);
  activation().give_back(at, on, false);
  return at;
}

/// The entry by which this rank sends to an object, for as long as the object may live. A new entry refers to the
/// object's home. Null when this rank is the home and has no entry: the object has been destroyed.
object_entry* object_space::entry_to_send_by(thread_context& on, object_id id) {
  for (;;) {
    object_entry* known = entries_.find(id);
    if (known == nullptr && id.is_element() && id.home() == messages_.rank()) known = places().place_at_home(id);
    if (known == nullptr) {
      if (id.home() == messages_.rank() || id.home().value() >= messages_.size()) return nullptr;
      if (id.is_element() && arrays_.find(id) == nullptr) return nullptr;
      known = &entries_.find_or_add(id, {id.home(), 0}, &object_activation::activate_work);
    }
    if (known->location.keep()) return known;
    ends().forget(*known, on);  // it is being collected: the first thread takes it out
  }
}

void object_space::push(object_entry& at, thread_context& on, message_ptr m, bool by_handler) {
  using origin = worker_pool::origin;
  const bool first = m->header.kind == message_kind::object && m->header.sequence == 0 && !at.id.is_element() &&
                     at.id.home() == messages_.rank();
  const origin from = !by_handler ? origin::elsewhere : first ? origin::birth : origin::handler;
  if (m->header.kind == message_kind::object) {
    at.inbox_seconds.add(activation_.costs().of(m->header.handler), m->header.sequence);
  }
  if (at.arrivals.push(m.release())) messages_.pool().make_ready(on, at, from);
}

/// Reads whether the object is here before it numbers the message: if the object leaves in between, the message is
/// forwarded.
void object_space::post(thread_context& on, object_id to, message_ptr m, detail::future_state* result) {
  if (!to.valid()) throw usage_error("a message to a mobile_ptr that names no object (it was default-constructed)");
  const epoch_guard guard(on);
  object_entry* const at = entry_to_send_by(on, to);
  const known_location location = at != nullptr ? at->location.read() : known_location{};
  const bool stays = at != nullptr && location.rank == messages_.rank() && !messages_.deferred();
  const bool of_main = stays && own().bundles_those_of(on);
  const bool may_join = of_main && !location.backlog && !backlog_.any() && bundles_.may_join_own(*m);
  if (at != nullptr && !may_join) m = messages_.prepare(on, stays, std::move(m));
  messages_.commit(on, [&] {
    m->header.object = to.value();
    m->header.source = messages_.rank().value();
    if (result != nullptr) m->header.reply = messages_.calls().open(*result);
    if (m->counted()) on.counters().created.add(1);
    if (at == nullptr) return errors().undeliverable(on, std::move(m));
    m->header.sequence = at->next_sequence.fetch_add(1, std::memory_order_relaxed);  // only the number orders messages
    if (may_join) return own().push_of_main(*at, on, std::move(m), true);
    if ((location.backlog || backlog_.any()) &&
        backlog().keep_at_source(on, *at, m, location.backlog, stays || messages_.by_pointer())) {
      return;
    }
    const rank_id next = forwarding().next_rank(*at, location, m->header);
    if (stays) {
      if (on.backpressure()) return own().push_under_backpressure(*at, on, std::move(m));
      if (own().push_behind_backpressure(*at, m)) return;
      if (of_main) return own().push_of_main(*at, on, std::move(m), false);
      return push(*at, on, std::move(m), on.in_item());
    }
    if (next == messages_.rank() && messages_.deferred() && on.in_item())
      return own().accept_when_spent(on, std::move(m));
    if (next != messages_.rank()) on.counters().hops.add(1);
    messages_.route(on, next, std::move(m));
  });
}

void object_space::post_migrate(thread_context& on, object_id object, rank_id to, detail::future_state& done) {
  if (to.value() >= messages_.size()) {
    throw usage_error("migrate to rank " + std::to_string(to.value()) + " of a job with " +
                      std::to_string(messages_.size()) + " ranks");
  }
  message_ptr m = make_message(sizeof(std::uint32_t));
  const std::uint32_t rank = to.value();
  std::memcpy(m->body(), &rank, sizeof rank);
  m->header.kind = message_kind::migrate;
  post(on, object, std::move(m), &done);
}

void object_space::post_destroy(thread_context& on, object_id object) {
  message_ptr m = make_message(0);
  m->header.kind = message_kind::destroy;
  post(on, object, std::move(m));
}

bool object_space::is_local(thread_context& on, object_id object) noexcept {
  const epoch_guard guard(on);
  const object_entry* at = entries_.find(object);
  if (at == nullptr) return false;
  const known_location location = at->location.read();
  // An object that leaves is away from its entry before it is sent, and the new location is learned afterwards; who has
  // waited for the migration may look in between.
  return location.rank == messages_.rank() && !location.gone && at->object() != nullptr;
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

void object_space::accept(thread_context& by, message_ptr m, bool by_handler) {
  const object_id id = object_id::from_value(m->header.object);
  if (m->header.kind == message_kind::arrival) return migration().receive(by, std::move(m));
  if ((m->header.flags & flag_returned) != 0) return backlog().take_back(by, std::move(m));
  object_entry* at = entries_.find(id);
  if (at == nullptr && id.is_element() && id.home() == messages_.rank()) at = places().place_at_home(id);
  if (at == nullptr) return forwarding().refer_to_home(id, by, std::move(m));
  if (at->location.read().rank != messages_.rank()) return forwarding().forward(*at, by, std::move(m));
  if (by_handler && !by.in_item() && own().end_idle(*at, by, m)) return;
  push(*at, by, std::move(m), by_handler);
}

void object_space::coroutine_ended(thread_context& on, const message_header& request,
                                   const detail::handler_info& handler) {
  object_entry* const at = entries_.find(object_id::from_value(request.object));
  NACRE_ASSERT(at != nullptr, "an object went away under a coroutine handler");
  if (handler.shared) return access().end_access(*at, on, &handler_access::end_shared_work, true);
  // acq_rel: pairs with the exchange in run_exclusive.
  if (at->exclusive_coroutine.exchange(object_entry::coroutine::ended, std::memory_order_acq_rel) ==
      object_entry::coroutine::suspended) {
    access().end_access(*at, on, &handler_access::end_exclusive_work, false);
  }
}
}  // namespace nacre
