// SPDX-License-Identifier: Apache-2.0
// Request ids of calls that wait.
#include "am/pending_calls.hpp"

#include <utility>

#include "am/call_deadline.hpp"

namespace nacre {

pending_calls::~pending_calls() {
  calls_.visit([](std::uint64_t, call each) {
    if (each.state != nullptr) take(each)->release();
  });
}

/// Takes the state out of a call, and ends its deadline. A timer that fires at this moment waits for the mutex, finds
/// nothing, and ends itself.
detail::future_state* pending_calls::take(call& ended) noexcept {
  call_deadline* const limit = std::exchange(ended.limit, nullptr);
  if (limit != nullptr && limit->remove()) delete limit;
  return std::exchange(ended.state, nullptr);
}

std::uint64_t pending_calls::open(detail::future_state& state, answers by) {
  state.acquire();
  const std::scoped_lock lock(mutex_);
  const std::uint64_t number = calls_.open({.state = &state, .by = by});
  state.set_call_number(number);
  return number;
}

detail::future_state* pending_calls::close(std::uint64_t number, std::optional<double>& passed) {
  const std::scoped_lock lock(mutex_);
  call* const found = calls_.find(number);
  if (found == nullptr || found->state == nullptr) return nullptr;
  // A timer that fires at this moment lives until it has had the mutex.
  if (found->limit != nullptr && found->limit->has_passed()) passed = found->limit->seconds();
  detail::future_state* const state = take(*found);
  calls_.close(number);
  return state;
}

bool pending_calls::set_deadline(std::uint64_t number, std::unique_ptr<call_deadline>& limit,
                                 const std::function<void()>& set) {
  const std::scoped_lock lock(mutex_);
  call* const found = calls_.find(number);
  if (found == nullptr || found->state == nullptr) return false;
  set();
  found->limit = limit.release();
  return true;
}

detail::future_state* pending_calls::give_up(std::uint64_t number, end how) {
  const std::scoped_lock lock(mutex_);
  call* const found = calls_.find(number);
  if (found == nullptr || found->state == nullptr) return nullptr;
  found->given_up = how;
  ++given_up_;
  if (how == end::cancelled) cancelled_.fetch_add(1, std::memory_order_relaxed);  // a hint; the mutex orders the rest
  return take(*found);
}

bool pending_calls::forget(std::uint64_t number) {
  const std::scoped_lock lock(mutex_);
  call* const found = calls_.find(number);
  if (found == nullptr || !found->given_up) return false;
  if (*found->given_up == end::cancelled) cancelled_.fetch_sub(1, std::memory_order_relaxed);  // as in give_up
  --given_up_;
  calls_.close(number);
  return true;
}

bool pending_calls::take_cancelled(std::uint64_t number) {
  {
    const std::scoped_lock lock(mutex_);
    const call* const found = calls_.find(number);
    if (found == nullptr || found->given_up != end::cancelled) return false;
  }
  return forget(number);  // only the message that asks here can end this state meanwhile
}

std::size_t pending_calls::count() const {
  const std::scoped_lock lock(mutex_);
  return calls_.count() - given_up_;
}

std::size_t pending_calls::commands(std::size_t slots_max) const {
  std::size_t found = 0;
  const std::scoped_lock lock(mutex_);
  calls_.visit(
      [&](std::uint64_t, const call& each) { found += each.state != nullptr && each.by == answers::command ? 1 : 0; },
      slots_max);
  return found;
}

void pending_calls::visit(std::size_t slots_max,
                          const std::function<void(std::uint64_t, const detail::future_state&)>& visit_one) const {
  const std::scoped_lock lock(mutex_);
  calls_.visit(
      [&](std::uint64_t number, const call& each) {
        if (each.state != nullptr) visit_one(number, *each.state);
      },
      slots_max);
}

}  // namespace nacre
