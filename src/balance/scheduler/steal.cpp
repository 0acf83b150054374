// SPDX-License-Identifier: Apache-2.0
// Which deque a worker takes from, and how often it looks at the oldest item.
#include "balance/scheduler/steal.hpp"

#include <algorithm>

#include "base/marks.hpp"

namespace nacre {
namespace {

/// The n of the table in the header.
std::size_t pops_until_oldest(const three_deques& own, std::size_t kept, std::size_t others) noexcept {
  constexpr std::size_t n_min = three_deques::pops_between_looks;
  if (own.now == scheduler::pressure::backlog) return std::max(n_min, 8 * kept);
  return others > 2 * kept + n_min ? 2 : own.pops_until_oldest;
}

/// The worker takes the oldest item now; counts anew to the next time.
void note_oldest(three_deques& own, std::size_t kept, std::size_t others) noexcept {
  own.pops = 0;
  own.pops_until_oldest =
      std::clamp<std::size_t>(kept / std::max<std::size_t>(1, others), three_deques::pops_between_looks,
                              steal_scheduler::pops_until_oldest_max);
}

}  // namespace

/// A message to a rank keeps its place behind others of its source; objects have no order among each other.
void steal_scheduler::push_made(worker_id by, work& item) {
  three_deques& own = queue_of(by);
  if (own.all_to_made) return push_to_made(own, item);
  if (!takes_warm(own) || !is_readable(item)) return push(by, item);
  own.warm.push(item, true);
}

void steal_scheduler::push_resumed(worker_id by, work& item) {
  three_deques& own = queue_of(by);
  if (!takes_warm(own)) return push(by, item);
  own.warm.push(item, is_readable(item));
}

bool steal_scheduler::takes_warm(const three_deques& own) const noexcept {
  return !own.lifo_mode && has_caches_ && own.items.size_estimate() + own.warm.size_estimate() >= warm_from;
}

void steal_scheduler::push_first(worker_id by, work& item) {
  three_deques& own = queue_of(by);
  own.lifo_mode = true;
  push_to_made(own, item);
}

/// Publishes the item at once, so that other workers can steal it: the handler that makes it may run for long.
void steal_scheduler::push_to_made(three_deques& own, work& item) {
  own.made.push(item, is_readable(item));
  ++own.just_made;
}

/// Reverses the items that the last item has made, so that the first of them is popped first.
void steal_scheduler::put_in_order(three_deques& own) {
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
  three_deques& own = queue_of(by);
  if (now == pressure::backlog) NACRE_MARK("a worker takes the newest first, because its rank has too much");
  if (now == pressure::unsent) NACRE_MARK("a worker leaves what its rank has made until more has been sent");
  own.now = now;
  own.all_to_made |= now != pressure::none;
  own.lifo_mode |= own.all_to_made;
}

/// The item that `take` takes, or one of a thread that never pops; null when it is the turn of the oldest.
template <class Take>
work* steal_scheduler::pop_kept(worker_id by, three_deques& own, sizes now, Take take) {
  if (++own.pops >= pops_until_oldest(own, now.kept, now.others)) return nullptr;
  if (own.pops % pops_between_looks == 0) {
    if (work* const item = take_ownerless(by)) return item;
  }
  return take();
}

/// Returns null only if every queue was seen empty, or under pressure::unsent. So a worker may sleep after null.
work* steal_scheduler::pop(worker_id by) {
  three_deques& own = queue_of(by);
  if (own.lifo_mode) return pop_lifo(by, own);
  const std::size_t kept = own.warm.size_estimate();
  if (kept != 0) {
    const std::size_t others = own.items.size_estimate();
    if (work* const item = pop_kept(by, own, {kept, others}, [&] { return own.take_warm(); })) return item;
    note_oldest(own, kept, others);
  }
  if (kept != 0 || looks_around(own)) {
    if (work* const item = take_ownerless(by)) return item;
  }
  if (work* const item = own.take_oldest()) return item;
  return steal_any(by, own);
}

work* steal_scheduler::pop_lifo(worker_id by, three_deques& own) {
  put_in_order(own);
  if (own.now == pressure::unsent) {
    if (work* const item = take_ownerless(by)) return item;
    if (work* const item = own.take_oldest()) return item;
    return steal(by, own, [](three_deques& from) { return from.take_oldest(); });
  }
  const std::size_t kept = own.made.size_estimate(), others = own.items.size_estimate() + own.warm.size_estimate();
  if (work* const item = pop_kept(by, own, {kept, others}, [&] { return own.made.take_newest(); })) return item;
  note_oldest(own, kept, others);
  own.all_to_made &= own.now != pressure::none || kept != 0;
  own.lifo_mode = own.now != pressure::none || kept != 0;
  if (work* const item = take_ownerless(by)) return item;
  if (work* const item = own.take_oldest()) return item;
  if (work* const item = own.made.take_newest()) return item;
  return steal_any(by, own);
}

work* steal_scheduler::steal_any(worker_id by, three_deques& own) {
  return steal(by, own, [](three_deques& from) {
    work* const taken = from.take_oldest();
    return taken == nullptr && from.made.size_estimate() != 0 ? from.made.take_oldest() : taken;
  });
}

}  // namespace nacre
