// SPDX-License-Identifier: Apache-2.0
// Taking from the queues of lanes.
#include "balance/scheduler/lane_deques.hpp"

namespace nacre {

lane_deques::lane_deques(const scheduler_site& site) : victims_(site), readable_(site.readable) {
  const rng seeds(site.seed);
  for (std::uint32_t index = 0; index < site.workers + 2; ++index) {
    lanes_.push_back(std::make_unique<lane_queue>(seeds.fork(index)));
  }
}

bool lane_deques::looks_around(worker_id by) noexcept {
  lane_queue& mine = own(by);
  if (++mine.turns < turns_between_looks) return false;
  mine.turns = 0;
  return true;
}

work* lane_deques::take_ownerless(worker_id by) noexcept {
  const std::size_t count = lanes_.size();
  for (std::size_t ownerless = count - 2; ownerless < count; ++ownerless) {
    if (ownerless == by.value()) continue;
    if (work* const item = lanes_[ownerless]->items.take_oldest()) return item;
  }
  return nullptr;
}

work* lane_deques::steal(worker_id by) {
  lane_queue& mine = own(by);
  work* const item = victims_.visit(by, mine.random, [&](std::uint32_t victim) {
    work* const taken = lanes_[victim]->items.take_oldest();
    if (taken != nullptr) mine.victim = worker_id(victim);
    return taken;
  });
  if (item != nullptr) ++mine.steals;
  return item;
}

bool lane_deques::visit_waiting(work_visitor& visitor, std::size_t most) {
  visit_lanes(lanes_.size(), looked_at_, most,
              [&](std::size_t lane, std::size_t& left) { return lanes_[lane]->items.visit(visitor, left); });
  return true;
}

}  // namespace nacre
