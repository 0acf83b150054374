// SPDX-License-Identifier: Apache-2.0
// The parts of a rank's objects, from the lowest to the highest.
#include "mobile/object_space.hpp"

#include <nacre/assert.hpp>

#include "mobile/directory/epoch_guard.hpp"

namespace nacre {

object_space::object_space(am_engine& messages, const options& limits)
    : object_sink(activation_),
      messages_(messages),
      homes_(messages.rank(), messages.size(), limits.homes),
      rules_(limits.location),
      entries_(messages.pool().readers(), activator()),
      arrays_(messages, homes_),
      clock_(messages, arrays_),
      access_(messages, arrays_, limits.check_serialization),
      waits_(messages, entries_, access_),
      view_(messages, entries_, arrays_, clock_.costs()),
      activation_(messages, entries_, table_, access_, waits_, clock_, view_),
      numbers_(messages, homes_, rules_, entries_, arrays_),
      creation_(messages, homes_, rules_, entries_, arrays_, access_, view_, activation_),
      requests_(messages, entries_, arrays_, view_, activation_),
      traffic_(messages.rank(), homes_, entries_),
      waiting_(messages, entries_, arrays_),
      errors_(messages, homes_, entries_, arrays_, table_, activation_),
      hop_(messages.rank(), homes_, limits.hops_max),
      review_(messages, homes_, entries_, table_, activation_, limits.forwarding_max),
      updates_(messages, homes_, rules_, entries_, arrays_, table_, numbers_, review_, activation_),
      backlog_(messages, entries_, arrays_, table_, numbers_, hop_, updates_, errors_),
      forwarding_(messages, homes_, rules_, hop_, table_, updates_, backlog_, errors_),
      arriving_(messages, homes_, entries_, arrays_, numbers_, forwarding_, backlog_, activation_),
      bundles_(messages, entries_, clock_, access_, activation_, arriving_),
      local_(messages, activation_, arriving_, bundles_),
      sender_(messages, homes_, numbers_, hop_, backlog_, local_, bundles_, activation_, errors_),
      departing_(messages, homes_, rules_, arrays_, table_, view_, review_, backlog_),
      landing_(messages, homes_, arrays_, table_, view_, access_, updates_),
      ends_(messages, homes_, entries_, table_, view_, updates_, errors_),
      place_messages_(messages, clock_, access_, activation_, backlog_),
      all_elements_(messages, homes_, entries_, arrays_, clock_, place_messages_, errors_),
      contributed_(messages, homes_, entries_, arrays_, all_elements_, sender_, errors_),
      places_(messages, homes_, arrays_, table_, waits_, landing_, departing_, ends_, contributed_, errors_),
      lifetime_(messages, homes_, rules_, entries_, arrays_, numbers_, creation_, activation_, contributed_, places_),
      locks_(messages, entries_, table_, access_, departing_, sender_),
      colocated_(messages, entries_, table_, access_, activation_, numbers_, sender_, departing_, errors_) {
  messages_.attach_objects(*this);
  NACRE_ASSERT(table_.missing().empty(), "a kind of message to objects has no part that deals with it");
  NACRE_ASSERT(entries_.forgotten && updates_.told, "a part of the objects' layer is told of nothing");
}

/// Nothing runs any more. References that wait for readers end before the directory deletes the remaining entries.
object_space::~object_space() {
  for (const auto& each : messages_.pool().thread_contexts()) each->reader().collect();
}

bool object_space::is_local(thread_context& thread, object_id object) const noexcept {
  const epoch_guard guard(thread);
  const object_entry* entry = entries_.find(object);
  if (entry == nullptr) return false;
  const known_location location = entry->location.read();
  // An object that leaves is away from its entry before it is sent, and the new location is learned afterwards; a
  // thread that has waited for the migration may look in between.
  return location.rank == messages_.rank() && !location.gone && entry->object() != nullptr;
}

object_images object_space::images(thread_context& thread) noexcept {
  return {{.messages = messages_,
           .homes = homes_,
           .entries = entries_,
           .arrays = arrays_,
           .numbers = numbers_,
           .access = access_,
           .view = view_,
           .activation = activation_,
           .creation = creation_,
           .contributed = contributed_,
           .lifetime = lifetime_},
          thread};
}

}  // namespace nacre
