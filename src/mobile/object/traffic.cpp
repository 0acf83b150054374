// SPDX-License-Identifier: Apache-2.0
// Counting the messages between objects, for balancers.
#include <vector>

#include "mobile/directory/reading.hpp"
#include "mobile/mobile.hpp"

namespace nacre {

/// The sending handler keeps its object here, and with it the entry and its extra.
void object_space::count_message(lane& on, const detail::object_pair& ends, const message& m) {
  const reading guard(on);
  entry* const at = entries_.find(ends.from);
  if (at == nullptr || at->fact.read().rank != messages_.rank()) return;
  const auto bytes = static_cast<double>(node::size_of(m) - sizeof(message) + sizeof(message_header));
  const std::uint32_t epoch = traffic_epoch_.load(std::memory_order_relaxed);  // a number alone
  shared_traffic& counted = at->need_extra().need_traffic();
  const std::scoped_lock lock(counted.guard);
  counted.sketch.note(ends.to, bytes, epoch);
}

void object_space::visit_traffic(object_id of,
                                 const std::function<void(const traffic_partner&, rank_id)>& visit) const {
  const entry* const at = entries_.find(of);
  const entry_extra* const extra = at != nullptr ? at->extra() : nullptr;
  if (extra == nullptr) return;
  shared_traffic* const counted = extra->traffic.load(std::memory_order_acquire);  // pairs with need_traffic
  if (counted == nullptr) return;
  traffic_sketch seen;
  {
    const std::scoped_lock lock(counted->guard);
    counted->sketch.advance(traffic_epoch_.load(std::memory_order_relaxed));  // a number alone
    seen = counted->sketch;
  }
  for (const traffic_partner& each : seen.partners()) {
    const entry* const known = entries_.find(each.object);
    const location_fact fact = known != nullptr ? known->fact.read() : location_fact{each.object.home(), 0};
    if (!fact.gone) visit(each, fact.rank);
  }
}

}  // namespace nacre
