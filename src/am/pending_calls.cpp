// SPDX-License-Identifier: Apache-2.0
// Request ids of calls that wait.
#include "am/pending_calls.hpp"

#include <algorithm>
#include <utility>

namespace nacre {

pending_calls::~pending_calls() {
  for (slot& each : slots_) {
    if (each.state != nullptr) each.state->release();
  }
}

std::uint64_t pending_calls::open(detail::future_state& state) {
  state.acquire();
  const std::scoped_lock lock(mutex_);
  std::uint32_t index = 0;
  if (free_.empty()) {
    index = static_cast<std::uint32_t>(slots_.size());
    slots_.emplace_back();
  } else {
    index = free_.back();
    free_.pop_back();
  }
  slots_[index].state = &state;
  return (std::uint64_t{slots_[index].generation} << 32) | index;
}

detail::future_state* pending_calls::close(std::uint64_t number) {
  const auto index = static_cast<std::uint32_t>(number);
  const auto generation = static_cast<std::uint32_t>(number >> 32);
  const std::scoped_lock lock(mutex_);
  if (index >= slots_.size() || slots_[index].generation != generation) return nullptr;
  detail::future_state* state = std::exchange(slots_[index].state, nullptr);
  if (state == nullptr) return nullptr;
  if (++slots_[index].generation == 0) slots_[index].generation = 1;
  free_.push_back(index);
  return state;
}

std::size_t pending_calls::count() const {
  const std::scoped_lock lock(mutex_);
  return slots_.size() - free_.size();
}

void pending_calls::visit(std::size_t slots_max,
                          const std::function<void(std::uint64_t, const detail::future_state&)>& visit_one) const {
  const std::scoped_lock lock(mutex_);
  for (std::uint32_t index = 0; index < std::min(slots_.size(), slots_max); ++index) {
    const slot& each = slots_[index];
    if (each.state != nullptr) visit_one((std::uint64_t{each.generation} << 32) | index, *each.state);
  }
}

}  // namespace nacre
