// SPDX-License-Identifier: Apache-2.0
// Making the entries of new objects.
#include "mobile/object/object_creation.hpp"

#include <utility>

#include <nacre/assert.hpp>

#include "mobile/directory/epoch_guard.hpp"

namespace nacre {

object_id object_creation::adopt(thread_context& thread, const detail::object_type& type, void* object,
                                 location_policy wanted) {
  object_state state;
  state.object = object;
  state.type = &type;
  state.policy = rules_.meant(wanted == location_policy::of_program ? type.location : wanted);
  const epoch_guard guard(thread);
  const std::uint64_t index = last_index_.fetch_add(1, std::memory_order_relaxed) + 1;  // only uniqueness matters
  const object_id id = homes_.new_name(messages_.rank(), index);
  NACRE_ASSERT(!id.is_element(), "a rank has made more objects than it has names for");
  install(thread, id, std::move(state));
  return id;
}

/// Calls the functions of the class first: as long as they may throw, no other thread knows the object. Holds the
/// activation until the object is complete: a balancer that finds the object earlier could take it away.
object_entry& object_creation::install(thread_context& thread, object_id id, object_state state) {
  const detail::object_type& type = *state.type;
  access_.check_object(type, id, state.object);
  const object_declaration declaration = declared_by(type, state.object, id, names_);
  object_entry& entry = entries_.add(id, {messages_.rank(), 1, state.policy}, inbox::first::running);
  entry.put_state(state);
  messages_.pool().charge_own(own_work::create);
  thread.record(trace::event_kind::create, id.value());
  if (declares(type)) view_.publish(entry, declaration);
  activation_.finish_step(entry, thread, may_run::no);
  return entry;
}

}  // namespace nacre
