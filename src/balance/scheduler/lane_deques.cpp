// SPDX-License-Identifier: Apache-2.0
// Taking from the queues of lanes.
#include "balance/scheduler/lane_deques.hpp"

namespace nacre {

work* take_oldest(ws_deque<work>& from) noexcept {
  work* item = nullptr;
  steal_result how;
  do {
    how = from.take_oldest(item);
  } while (how == steal_result::lost_race);
  return how == steal_result::taken ? item : nullptr;
}

lane_deques::lane_deques(const scheduler_site& site) : victims_(site) {
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
    if (work* const item = take_oldest(lanes_[ownerless]->items)) return item;
  }
  return nullptr;
}

work* lane_deques::steal(worker_id by) {
  lane_queue& mine = own(by);
  work* const item = victims_.visit(by, mine.random, [&](std::uint32_t victim) {
    work* const taken = take_oldest(lanes_[victim]->items);
    if (taken != nullptr) mine.victim = worker_id(victim);
    return taken;
  });
  if (item != nullptr) ++mine.steals;
  return item;
}

}  // namespace nacre
