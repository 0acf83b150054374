// SPDX-License-Identifier: Apache-2.0
// Random-victim work stealing inside a rank.
#include "balance/scheduler/steal.hpp"

namespace nacre {

steal_scheduler::steal_scheduler(std::uint32_t workers, std::uint64_t seed) {
  const rng seeds(seed);
  for (std::uint32_t index = 0; index < workers + 2; ++index) {
    lanes_.push_back(std::make_unique<lane_queue>(seeds.fork(index)));
  }
}

void steal_scheduler::push(worker_id by, work& item) { lanes_[by.value()]->items.push(&item); }

/// Null only when every queue was seen empty: a worker may sleep on that.
work* steal_scheduler::pop(worker_id by) {
  lane_queue& own = *lanes_[by.value()];
  const auto take = [](lane_queue& from) {
    work* item = nullptr;
    steal_result how;
    do {
      how = from.items.take_oldest(item);
    } while (how == steal_result::lost_race);
    return how == steal_result::taken ? item : nullptr;
  };
  const auto count = static_cast<std::uint32_t>(lanes_.size());
  if (++own.turns >= turns_between_looks) {
    own.turns = 0;
    for (std::uint32_t ownerless = count - 2; ownerless < count; ++ownerless) {
      if (ownerless == by.value() || lanes_[ownerless]->items.size_estimate() == 0) continue;
      if (work* const item = take(*lanes_[ownerless])) return item;
    }
  }
  if (work* const item = take(own)) return item;
  std::uint32_t victim = static_cast<std::uint32_t>(own.random.below(count));
  for (std::uint32_t tried = 0; tried < count; ++tried, victim = victim + 1 == count ? 0 : victim + 1) {
    if (victim == by.value()) continue;
    if (work* const item = take(*lanes_[victim])) {
      ++own.steals;
      return item;
    }
  }
  return nullptr;
}

std::size_t steal_scheduler::waiting(worker_id by) const { return lanes_[by.value()]->items.size_estimate(); }

}  // namespace nacre
