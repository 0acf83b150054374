// SPDX-License-Identifier: Apache-2.0
// Which deque a worker takes from, and how often it looks at the oldest item.
#include "balance/scheduler/steal.hpp"

#include <algorithm>

#include "base/marks.hpp"

namespace nacre {
namespace {

/// The n of the table in the header.
std::size_t pops_until_oldest(const three_deques& deques, std::size_t kept, std::size_t others) noexcept {
  constexpr std::size_t n_min = three_deques::pops_between_looks;
  if (deques.now == scheduler::pressure::backlog) return std::max(n_min, 8 * kept);
  return others > 2 * kept + n_min ? 2 : deques.pops_until_oldest;
}

/// The worker takes the oldest item now; counts anew to the next time.
void note_oldest(three_deques& deques, std::size_t kept, std::size_t others) noexcept {
  deques.pops = 0;
  deques.pops_until_oldest =
      std::clamp<std::size_t>(kept / std::max<std::size_t>(1, others), three_deques::pops_between_looks,
                              steal_scheduler::pops_until_oldest_max);
}

}  // namespace

/// A message to a rank keeps its place behind others of its source; objects have no order among each other.
void steal_scheduler::push_made(worker_id worker, work& item) {
  three_deques& deques = queue_of(worker);
  if (deques.all_to_made) return push_to_made(deques, item);
  if (!takes_warm(deques) || !is_readable(item)) return push(worker, item);
  deques.warm.push(item, true);
}

void steal_scheduler::push_resumed(worker_id worker, work& item) {
  three_deques& deques = queue_of(worker);
  if (!takes_warm(deques)) return push(worker, item);
  deques.warm.push(item, is_readable(item));
}

bool steal_scheduler::takes_warm(const three_deques& deques) const noexcept {
  return !deques.lifo_mode && has_caches_ && deques.items.size_estimate() + deques.warm.size_estimate() >= warm_from;
}

void steal_scheduler::push_first(worker_id worker, work& item) {
  three_deques& deques = queue_of(worker);
  deques.lifo_mode = true;
  push_to_made(deques, item);
}

/// Publishes the item at once, so that other workers can steal it: the handler that makes it may run for long.
void steal_scheduler::push_to_made(three_deques& deques, work& item) {
  deques.made.push(item, is_readable(item));
  ++deques.just_made;
}

/// Reverses the items that the last item has made, so that the first of them is popped first.
void steal_scheduler::put_in_order(three_deques& deques) {
  if (deques.just_made > 1) {
    deques.reversed.reserve(deques.just_made);  // may throw, so before any item is taken out
    for (; deques.just_made != 0; --deques.just_made) {
      work* const item = deques.made.take_newest();
      if (item == nullptr) break;  // other workers have taken the rest
      deques.reversed.push_back(item);
    }
    for (work* const item : deques.reversed) deques.made.push(*item, is_readable(*item));
    deques.reversed.clear();
  }
  deques.just_made = 0;
}

void steal_scheduler::set_pressure(worker_id worker, pressure now) {
  three_deques& deques = queue_of(worker);
  if (now == pressure::backlog) NACRE_MARK("a worker takes the newest first, because its rank has too much");
  if (now == pressure::unsent) NACRE_MARK("a worker leaves what its rank has made until more has been sent");
  deques.now = now;
  deques.all_to_made |= now != pressure::none;
  deques.lifo_mode |= deques.all_to_made;
}

/// The item that `take` takes, or one of a thread that never pops; null when it is the turn of the oldest.
template <class Take>
work* steal_scheduler::pop_kept(worker_id worker, three_deques& deques, sizes now, Take take) {
  if (++deques.pops >= pops_until_oldest(deques, now.kept, now.others)) return nullptr;
  if (deques.pops % pops_between_looks == 0) {
    if (work* const item = take_ownerless(worker)) return item;
  }
  return take();
}

/// Returns null only if every queue was seen empty, or under pressure::unsent. So a worker may sleep after null.
work* steal_scheduler::pop(worker_id worker) {
  three_deques& deques = queue_of(worker);
  if (deques.lifo_mode) return pop_lifo(worker, deques);
  const std::size_t kept = deques.warm.size_estimate();
  if (kept != 0) {
    const std::size_t others = deques.items.size_estimate();
    if (work* const item = pop_kept(worker, deques, {kept, others}, [&] { return deques.take_warm(); })) return item;
    note_oldest(deques, kept, others);
  }
  if (kept != 0 || looks_around(deques)) {
    if (work* const item = take_ownerless(worker)) return item;
  }
  if (work* const item = deques.take_oldest()) return item;
  return steal_any(worker, deques);
}

work* steal_scheduler::pop_lifo(worker_id worker, three_deques& own_deques) {
  put_in_order(own_deques);
  if (own_deques.now == pressure::unsent) {
    if (work* const item = take_ownerless(worker)) return item;
    if (work* const item = own_deques.take_oldest()) return item;
    return steal(worker, own_deques, [](three_deques& source) { return source.take_oldest(); });
  }
  const std::size_t kept = own_deques.made.size_estimate(),
                    others = own_deques.items.size_estimate() + own_deques.warm.size_estimate();
  if (work* const item = pop_kept(worker, own_deques, {kept, others}, [&] { return own_deques.made.take_newest(); }))
    return item;
  note_oldest(own_deques, kept, others);
  own_deques.all_to_made &= own_deques.now != pressure::none || kept != 0;
  own_deques.lifo_mode = own_deques.now != pressure::none || kept != 0;
  if (work* const item = take_ownerless(worker)) return item;
  if (work* const item = own_deques.take_oldest()) return item;
  if (work* const item = own_deques.made.take_newest()) return item;
  return steal_any(worker, own_deques);
}

work* steal_scheduler::steal_any(worker_id worker, three_deques& own_deques) {
  return steal(worker, own_deques, [](three_deques& source) {
    work* const taken = source.take_oldest();
    return taken == nullptr && source.made.size_estimate() != 0 ? source.made.take_oldest() : taken;
  });
}

}  // namespace nacre
