// SPDX-License-Identifier: Apache-2.0
// Random-victim work stealing inside a rank.
#include "balance/scheduler/steal.hpp"

#include <algorithm>

#include "base/marks.hpp"

namespace nacre {

steal_scheduler::steal_scheduler(const scheduler_site& site) : victims_(site), readable_(site.readable) {
  const rng seeds(site.seed);
  for (std::uint32_t index = 0; index < site.threads(); ++index) {
    queues_.push_back(std::make_unique<thread_queue>(seeds.fork(index)));
  }
}

void steal_scheduler::push(worker_id by, work& item) { queues_[by.value()]->items.push(item, item.runs_by(readable_)); }

void steal_scheduler::push_made(worker_id by, work& item) {
  if (queues_[by.value()]->all_to_made) return push_to_made(*queues_[by.value()], item);
  push(by, item);
}

void steal_scheduler::push_first(worker_id by, work& item) {
  thread_queue& own = *queues_[by.value()];
  own.lifo_mode = true;
  push_to_made(own, item);
}

/// Publishes the item at once, so that other workers can steal it: the handler that makes it may run for long.
void steal_scheduler::push_to_made(thread_queue& own, work& item) {
  own.made.push(item, item.runs_by(readable_));
  ++own.just_made;
}

/// Reverses the items that the last item has made, so that the first of them is popped first.
void steal_scheduler::put_in_order(thread_queue& own) {
  if (own.just_made > 1) {
    own.reversed.reserve(own.just_made);  // before anything is out of its place
    for (; own.just_made != 0; --own.just_made) {
      work* const item = own.made.take_newest();
      if (item == nullptr) break;  // other workers have taken the rest
      own.reversed.push_back(item);
    }
    for (work* const item : own.reversed) own.made.push(*item, item->runs_by(readable_));
    own.reversed.clear();
  }
  own.just_made = 0;
}

void steal_scheduler::set_pressure(worker_id by, pressure now) {
  thread_queue& own = *queues_[by.value()];
  if (now == pressure::backlog) NACRE_MARK("a worker takes the newest first, because its rank has too much");
  if (now == pressure::unsent) NACRE_MARK("a worker leaves what its rank has made until more has been sent");
  own.now = now;
  own.all_to_made |= now != pressure::none;
  own.lifo_mode |= own.all_to_made;
}

/// Returns null only if every queue was seen empty, or under pressure::unsent. So a worker may sleep after null.
work* steal_scheduler::pop(worker_id by) {
  thread_queue& own = *queues_[by.value()];
  if (own.lifo_mode) return pop_lifo(by, own);
  if (++own.pops >= pops_between_looks) {
    own.pops = 0;
    if (work* const item = take_ownerless(by)) return item;
  }
  if (work* const item = own.items.take_oldest()) return item;
  return steal(by, own, true);
}

work* steal_scheduler::pop_lifo(worker_id by, thread_queue& own) {
  put_in_order(own);
  if (own.now == pressure::unsent) {
    if (work* const item = take_ownerless(by)) return item;
    if (work* const item = own.items.take_oldest()) return item;
    return steal(by, own, false);
  }
  const std::size_t kept = own.made.size_estimate();
  if (++own.pops < pops_until_oldest(own, kept)) {
    if (own.pops % pops_between_looks == 0) {
      if (work* const item = take_ownerless(by)) return item;
    }
    if (work* const item = own.made.take_newest()) return item;
  }
  own.pops = 0;
  own.pops_until_oldest = std::clamp<std::size_t>(kept / std::max<std::size_t>(1, own.items.size_estimate()),
                                                  pops_between_looks, pops_until_oldest_max);
  own.all_to_made &= own.now != pressure::none || kept != 0;
  own.lifo_mode = own.now != pressure::none || kept != 0;
  if (work* const item = take_ownerless(by)) return item;
  if (work* const item = own.items.take_oldest()) return item;
  if (work* const item = own.made.take_newest()) return item;
  return steal(by, own, true);
}

/// The n of the table in the header.
std::size_t steal_scheduler::pops_until_oldest(const thread_queue& own, std::size_t kept) noexcept {
  if (own.now == pressure::backlog) return std::max<std::size_t>(pops_between_looks, 8 * kept);
  return own.items.size_estimate() > 2 * kept + pops_between_looks ? 2 : own.pops_until_oldest;
}

work* steal_scheduler::take_ownerless(worker_id by) {
  const std::size_t count = queues_.size();
  for (std::size_t ownerless = count - 2; ownerless < count; ++ownerless) {
    if (ownerless == by.value() || queues_[ownerless]->items.size_estimate() == 0) continue;
    if (work* const item = queues_[ownerless]->items.take_oldest()) return item;
  }
  return nullptr;
}

/// Whether no queue holds anything that could be stolen; each was seen empty.
bool steal_scheduler::empty() const noexcept {
  return std::all_of(queues_.begin(), queues_.end(),
                     [](const auto& each) { return each->items.empty() && each->made.size_estimate() == 0; });
}

work* steal_scheduler::steal(worker_id by, thread_queue& own, bool also_made) {
  if (!victims_.by_distance() && empty()) {  // a fast path for a worker that polls
    static_cast<void>(own.random.next());    // as a visit would draw: simulations depend on the seed alone
    return nullptr;
  }
  work* const item = victims_.visit(by, own.random, [&](std::uint32_t victim) {
    thread_queue& from = *queues_[victim];
    work* taken = from.items.take_oldest();
    if (taken == nullptr && also_made && from.made.size_estimate() != 0) taken = from.made.take_oldest();
    if (taken != nullptr) own.victim = worker_id(victim);
    return taken;
  });
  if (item != nullptr) ++own.steals;
  return item;
}

bool steal_scheduler::visit_waiting(work_visitor& visitor, std::size_t most) {
  visit_queues(queues_.size(), looked_at_, most, [&](std::size_t thread_index, std::size_t& left) {
    return queues_[thread_index]->items.visit(visitor, left) && queues_[thread_index]->made.visit(visitor, left);
  });
  return true;
}

std::size_t steal_scheduler::waiting(worker_id by) const {
  const thread_queue& own = *queues_[by.value()];
  return own.items.size_estimate() + own.made.size_estimate();
}

}  // namespace nacre
