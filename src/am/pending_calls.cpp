// SPDX-License-Identifier: Apache-2.0
// Request ids of calls that wait.
#include "am/pending_calls.hpp"

#include <algorithm>
#include <utility>

#include "am/call_deadline.hpp"

namespace nacre {

pending_calls::~pending_calls() {
  for (slot& each : slots_) {
    if (each.state != nullptr) take(each)->release();
  }
}

/// Takes the state out of a slot, and ends its deadline. A timer that fires at this moment waits for the mutex, finds
/// nothing, and ends itself.
detail::future_state* pending_calls::take(slot& ended) noexcept {
  call_deadline* const limit = std::exchange(ended.limit, nullptr);
  if (limit != nullptr && limit->remove()) delete limit;
  return std::exchange(ended.state, nullptr);
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
  const std::uint64_t number = (std::uint64_t{slots_[index].generation} << 32) | index;
  state.set_call_number(number);
  return number;
}

pending_calls::slot* pending_calls::find(std::uint64_t number) noexcept {
  const auto index = static_cast<std::uint32_t>(number);
  const auto generation = static_cast<std::uint32_t>(number >> 32);
  return index < slots_.size() && slots_[index].generation == generation ? &slots_[index] : nullptr;
}

void pending_calls::free(slot& ended) noexcept {
  if (++ended.generation == 0) ended.generation = 1;
  free_.push_back(static_cast<std::uint32_t>(&ended - slots_.data()));
}

detail::future_state* pending_calls::close(std::uint64_t number) {
  const std::scoped_lock lock(mutex_);
  slot* const found = find(number);
  if (found == nullptr || found->state == nullptr) return nullptr;
  detail::future_state* const state = take(*found);
  free(*found);
  return state;
}

bool pending_calls::set_deadline(std::uint64_t number, std::unique_ptr<call_deadline>& limit,
                                 const std::function<void()>& set) {
  const std::scoped_lock lock(mutex_);
  slot* const found = find(number);
  if (found == nullptr || found->state == nullptr) return false;
  set();
  found->limit = limit.release();
  return true;
}

detail::future_state* pending_calls::give_up(std::uint64_t number, end how) {
  const std::scoped_lock lock(mutex_);
  slot* const found = find(number);
  if (found == nullptr || found->state == nullptr) return nullptr;
  found->given_up = how;
  ++given_up_;
  if (how == end::cancelled) cancelled_.fetch_add(1, std::memory_order_relaxed);  // a hint; the mutex orders the rest
  return take(*found);
}

bool pending_calls::forget(std::uint64_t number) {
  const std::scoped_lock lock(mutex_);
  slot* const found = find(number);
  if (found == nullptr || !found->given_up) return false;
  if (*found->given_up == end::cancelled) cancelled_.fetch_sub(1, std::memory_order_relaxed);  // as in give_up
  found->given_up.reset();
  --given_up_;
  free(*found);
  return true;
}

bool pending_calls::take_cancelled(std::uint64_t number) {
  {
    const std::scoped_lock lock(mutex_);
    const slot* const found = find(number);
    if (found == nullptr || found->given_up != end::cancelled) return false;
  }
  return forget(number);  // only the message that asks here can end this state meanwhile
}

std::size_t pending_calls::count() const {
  const std::scoped_lock lock(mutex_);
  return slots_.size() - free_.size() - given_up_;
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
