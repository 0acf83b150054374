// SPDX-License-Identifier: Apache-2.0
// The steps of the heap of timers.
#include "backplane/timer_heap.hpp"

#include <algorithm>

#include <nacre/assert.hpp>

namespace nacre {

void timer_heap::set(timer& added, instant due) {
  NACRE_EXPECT(added.place_ == timer::unset, "a timer is set once at a time");
  const entry last{due, set_, &added};
  heap_.push_back(last);
  ++set_;
  rise(heap_.size() - 1, last);
}

bool timer_heap::remove(timer& gone) noexcept {
  const std::size_t place = gone.place_;
  if (place == timer::unset) return false;
  gone.place_ = timer::unset;
  const entry last = heap_.back();
  heap_.pop_back();
  if (last.subject == &gone) return true;
  if (place != 0 && last.before(heap_[(place - 1) / arity])) {
    rise(place, last);
  } else {
    sink(place, last);
  }
  return true;
}

timer* timer_heap::take_due(instant now) noexcept {
  if (heap_.empty() || heap_.front().due > now) return nullptr;
  timer* const earliest = heap_.front().subject;
  remove(*earliest);
  return earliest;
}

void timer_heap::rise(std::size_t place, const entry& moved) noexcept {
  while (place != 0) {
    const std::size_t parent = (place - 1) / arity;
    if (!moved.before(heap_[parent])) break;
    put(place, heap_[parent]);
    place = parent;
  }
  put(place, moved);
}

void timer_heap::sink(std::size_t place, const entry& moved) noexcept {
  for (;;) {
    const std::size_t first = place * arity + 1;
    if (first >= heap_.size()) break;
    std::size_t least = first;
    for (std::size_t child = first + 1; child < std::min(first + arity, heap_.size()); ++child) {
      if (heap_[child].before(heap_[least])) least = child;
    }
    if (!heap_[least].before(moved)) break;
    put(place, heap_[least]);
    place = least;
  }
  put(place, moved);
}

}  // namespace nacre
