// SPDX-License-Identifier: Apache-2.0
// The slow paths of the event queue: opening the slot of the next instant, and allocating chunks.
#include "machine/event_queue.hpp"

#include <algorithm>

namespace nacre::machine {

/// Advances base to the earliest time and fills current_ with the events of that time.
void event_queue::refill() {
  const auto digit = static_cast<unsigned>(std::countr_zero(occupied_digits_));
  const auto value = static_cast<std::size_t>(std::countr_zero(occupied_slots_[digit]));
  NACRE_ASSERT(digit < digits && value < slots, "an event waits in some slot");
  chunk* opened = std::exchange(heads_[digit][value], nullptr);
  occupied_slots_[digit] &= occupied_slots_[digit] - 1;
  if (occupied_slots_[digit] == 0) occupied_digits_ &= ~(1U << digit);

  base_ns_ = opened->events[0].when_ns;
  if (digit != 0) {
    for (const chunk* part = opened; part != nullptr; part = part->next) {
      for (std::size_t i = 0; i < part->count; ++i) base_ns_ = std::min(base_ns_, part->events[i].when_ns);
    }
  }
  while (opened != nullptr) {
    chunk* part = opened;
    for (std::size_t i = 0; i < part->count; ++i) place(part->events[i]);
    opened = part->next;
    part->next = std::exchange(free_, part);
  }
}

event_queue::chunk* event_queue::prepend(chunk* head, unsigned digit, std::size_t value) {
  if (free_ == nullptr) grow();
  chunk* taken = std::exchange(free_, free_->next);
  taken->next = head;
  taken->count = 0;
  occupied_digits_ |= 1U << digit;
  occupied_slots_[digit] |= std::uint64_t{1} << value;
  return taken;
}

void event_queue::grow() {
  const std::size_t count =
      std::clamp<std::size_t>(std::size_t{16} << std::min<std::size_t>(blocks_.size(), 8), 16, 4096);
  auto block = std::make_unique_for_overwrite<chunk[]>(count);
  for (std::size_t i = 0; i < count; ++i) block[i].next = std::exchange(free_, &block[i]);
  blocks_.push_back(std::move(block));
}

}  // namespace nacre::machine
