// SPDX-License-Identifier: Apache-2.0
// Which deque a worker takes from, and how often it looks at the oldest item.
#include "balance/scheduler/steal.hpp"

#include <algorithm>

#include "base/marks.hpp"

namespace nacre {

void steal_scheduler::push_made(worker_id by, work& item) {
  two_deques& own = queue_of(by);
  if (own.all_to_made) return push_to_made(own, item);
  push(by, item);
}

void steal_scheduler::push_first(worker_id by, work& item) {
  two_deques& own = queue_of(by);
  own.lifo_mode = true;
  push_to_made(own, item);
}

/// Publishes the item at once, so that other workers can steal it: the handler that makes it may run for long.
void steal_scheduler::push_to_made(two_deques& own, work& item) {
  own.made.push(item, is_readable(item));
  ++own.just_made;
}

/// Reverses the items that the last item has made, so that the first of them is popped first.
void steal_scheduler::put_in_order(two_deques& own) {
  if (own.just_made > 1) {
    own.reversed.reserve(own.just_made);  // before anything is out of its place
    for (; own.just_made != 0; --own.just_made) {
      work* const item = own.made.take_newest();
      if (item == nullptr) break;  // other workers have taken the rest
      own.reversed.push_back(item);
    }
    for (work* const item : own.reversed) own.made.push(*item, is_readable(*item));
    own.reversed.clear();
  }
  own.just_made = 0;
}

void steal_scheduler::set_pressure(worker_id by, pressure now) {
  two_deques& own = queue_of(by);
  if (now == pressure::backlog) NACRE_MARK("a worker takes the newest first, because its rank has too much");
  if (now == pressure::unsent) NACRE_MARK("a worker leaves what its rank has made until more has been sent");
  own.now = now;
  own.all_to_made |= now != pressure::none;
  own.lifo_mode |= own.all_to_made;
}

/// Returns null only if every queue was seen empty, or under pressure::unsent. So a worker may sleep after null.
work* steal_scheduler::pop(worker_id by) {
  two_deques& own = queue_of(by);
  if (own.lifo_mode) return pop_lifo(by, own);
  if (looks_around(own)) {
    if (work* const item = take_ownerless(by)) return item;
  }
  if (work* const item = own.items.take_oldest()) return item;
  return steal_any(by, own);
}

work* steal_scheduler::pop_lifo(worker_id by, two_deques& own) {
  put_in_order(own);
  if (own.now == pressure::unsent) {
    if (work* const item = take_ownerless(by)) return item;
    if (work* const item = own.items.take_oldest()) return item;
    return steal(by);
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
  return steal_any(by, own);
}

/// The n of the table in the header.
std::size_t steal_scheduler::pops_until_oldest(const two_deques& own, std::size_t kept) noexcept {
  if (own.now == pressure::backlog) return std::max<std::size_t>(pops_between_looks, 8 * kept);
  return own.items.size_estimate() > 2 * kept + pops_between_looks ? 2 : own.pops_until_oldest;
}

work* steal_scheduler::steal_any(worker_id by, two_deques& own) {
  return steal(by, own, [](two_deques& from) {
    work* const taken = from.items.take_oldest();
    return taken == nullptr && from.made.size_estimate() != 0 ? from.made.take_oldest() : taken;
  });
}

}  // namespace nacre
