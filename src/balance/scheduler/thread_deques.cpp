// SPDX-License-Identifier: Apache-2.0
// Takes items from the deques of all threads.
#include "balance/scheduler/thread_deques.hpp"

namespace nacre {

thread_deques::thread_deques(const scheduler_site& site) : victims_(site), readable_(site.readable) {
  const rng seeds(site.seed);
  for (std::uint32_t index = 0; index < site.threads(); ++index) {
    queues_.push_back(std::make_unique<thread_queue>(seeds.fork(index)));
  }
}

bool thread_deques::looks_around(worker_id by) noexcept {
  thread_queue& mine = own(by);
  if (++mine.pops < pops_between_looks) return false;
  mine.pops = 0;
  return true;
}

work* thread_deques::take_ownerless(worker_id by) noexcept {
  const std::size_t count = queues_.size();
  for (std::size_t ownerless = count - 2; ownerless < count; ++ownerless) {
    if (ownerless == by.value()) continue;
    if (work* const item = queues_[ownerless]->items.take_oldest()) return item;
  }
  return nullptr;
}

work* thread_deques::steal(worker_id by) {
  thread_queue& mine = own(by);
  work* const item = victims_.visit(by, mine.random, [&](std::uint32_t victim) {
    work* const taken = queues_[victim]->items.take_oldest();
    if (taken != nullptr) mine.victim = worker_id(victim);
    return taken;
  });
  if (item != nullptr) ++mine.steals;
  return item;
}

bool thread_deques::visit_waiting(work_visitor& visitor, std::size_t most) {
  visit_queues(queues_.size(), looked_at_, most, [&](std::size_t thread_index, std::size_t& left) {
    return queues_[thread_index]->items.visit(visitor, left);
  });
  return true;
}

}  // namespace nacre
