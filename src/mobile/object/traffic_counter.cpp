// SPDX-License-Identifier: Apache-2.0
// Counting the messages between objects, for balancers.
#include "mobile/object/traffic_counter.hpp"

#include <mutex>

#include "mobile/directory/epoch_guard.hpp"

namespace nacre {

/// The sending handler keeps its object here, and with it the entry and its extra.
void traffic_counter::count(thread_context& thread, const detail::object_pair& ends, const message& m) {
  const epoch_guard guard(thread);
  object_entry* const entry = entries_.find(ends.source);
  if (entry == nullptr || entry->location.read().rank != rank_) return;
  const auto bytes = static_cast<double>(size_or_least(m) - sizeof(message) + sizeof(message_header));
  const std::uint32_t epoch = epoch_.load(std::memory_order_relaxed);  // a number alone
  shared_traffic& counted = entry->need_extra().need_traffic();
  const std::scoped_lock lock(counted.guard);
  counted.sketch.note(ends.target, bytes, epoch);
}

void traffic_counter::visit(object_id object, const std::function<void(const traffic_partner&, rank_id)>& visit) const {
  const object_entry* const entry = entries_.find(object);
  const object_entry_extra* const extra = entry != nullptr ? entry->extra() : nullptr;
  if (extra == nullptr) return;
  shared_traffic* const counted = extra->traffic.load(std::memory_order_acquire);  // pairs with need_traffic
  if (counted == nullptr) return;
  traffic_sketch seen;
  {
    const std::scoped_lock lock(counted->guard);
    counted->sketch.advance(epoch_.load(std::memory_order_relaxed));  // a number alone
    seen = counted->sketch;
  }
  for (const traffic_partner& each : seen.partners()) {
    if (!homes_.knows(each.object)) continue;  // the sketch has come from a peer
    const object_entry* const known = entries_.find(each.object);
    const known_location location =
        known != nullptr ? known->location.read() : known_location{homes_.home_of(each.object), 0};
    if (!location.gone) visit(each, location.rank);
  }
}
}  // namespace nacre
