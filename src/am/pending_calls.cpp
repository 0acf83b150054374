// SPDX-License-Identifier: Apache-2.0
// Request ids of calls that wait.
#include "am/pending_calls.hpp"

#include <algorithm>
#include <utility>

#include "am/call_deadline.hpp"

namespace nacre {

pending_calls::~pending_calls() {
  calls_.visit([](std::uint64_t, call each) {
    if (each.state != nullptr) take(each)->release();
    delete each.extras;
  });
}

/// Takes the state out of a call, and ends its deadline. A timer that fires at this moment waits for the mutex, finds
/// nothing, and ends itself.
detail::future_state* pending_calls::take(call& ended) noexcept {
  if (ended.extras != nullptr) {
    call_deadline* const limit = std::exchange(ended.extras->limit, nullptr);
    if (limit != nullptr && limit->remove()) delete limit;
  }
  return std::exchange(ended.state, nullptr);
}

call_extras& pending_calls::extras_of(call& waiting) {
  if (waiting.extras == nullptr) waiting.extras = new call_extras;
  return *waiting.extras;
}

std::uint64_t pending_calls::open(detail::future_state& state, answers answers) {
  state.acquire();
  const std::scoped_lock lock(mutex_);
  const std::uint64_t number = calls_.open({.state = &state, .answerer = answers});
  state.set_call_number(number);
  return number;
}

detail::future_state* pending_calls::close(std::uint64_t number, std::unique_ptr<call_extras>& extras) {
  const std::scoped_lock lock(mutex_);
  call* const call = calls_.find(number);
  if (call == nullptr || call->state == nullptr) return nullptr;
  if (call->extras != nullptr) {
    extras.reset(call->extras);
    // A timer that fires at this moment lives until it has had the mutex.
    if (const call_deadline* const limit = extras->limit; limit != nullptr && limit->has_passed())
      extras->too_late = limit->seconds();
  }
  detail::future_state* const state = take(*call);
  calls_.close(number);
  return state;
}

bool pending_calls::set_deadline(std::uint64_t number, std::unique_ptr<call_deadline>& limit,
                                 const std::function<void()>& set) {
  const std::scoped_lock lock(mutex_);
  call* const call = calls_.find(number);
  if (call == nullptr || call->state == nullptr) return false;
  call_extras& extras = extras_of(*call);
  set();
  extras.limit = limit.release();
  return true;
}

detail::future_state* pending_calls::give_up(std::uint64_t number, end end, std::vector<rank_id>& watchers) {
  const std::scoped_lock lock(mutex_);
  call* const call = calls_.find(number);
  if (call == nullptr || call->state == nullptr) return nullptr;
  if (call->extras != nullptr) watchers = call->extras->watchers;
  call->given_up = end;
  ++given_up_;
  if (end == end::cancelled) cancelled_.fetch_add(1, std::memory_order_relaxed);  // a hint; the mutex orders the rest
  return take(*call);
}

bool pending_calls::forget(std::uint64_t number, std::unique_ptr<call_extras>& extras) {
  const std::scoped_lock lock(mutex_);
  call* const entry = calls_.find(number);
  if (entry == nullptr || !entry->given_up) return false;
  if (*entry->given_up == end::cancelled) cancelled_.fetch_sub(1, std::memory_order_relaxed);  // as in give_up
  --given_up_;
  extras.reset(entry->extras);
  calls_.close(number);
  return true;
}

bool pending_calls::is_given_up(const call& one) {
  return one.given_up || (one.extras != nullptr && one.extras->limit != nullptr && one.extras->limit->has_passed());
}

bool pending_calls::is_given_up(std::uint64_t number) const {
  const std::scoped_lock lock(mutex_);
  const call* const call = calls_.find(number);
  return call != nullptr && is_given_up(*call);
}

pending_calls::standing pending_calls::watch(std::uint64_t number, rank_id watcher) {
  const std::scoped_lock lock(mutex_);
  call* const call = calls_.find(number);
  if (call == nullptr) return standing::over;
  std::vector<rank_id>& watchers = extras_of(*call).watchers;
  if (std::find(watchers.begin(), watchers.end(), watcher) == watchers.end()) watchers.push_back(watcher);
  return is_given_up(*call) ? standing::given_up : standing::waits;
}

bool pending_calls::take_cancelled(std::uint64_t number) {
  {
    const std::scoped_lock lock(mutex_);
    const call* const call = calls_.find(number);
    if (call == nullptr || call->given_up != end::cancelled) return false;
  }
  return forget(number);  // only the message that asks here can end this state meanwhile
}

std::size_t pending_calls::count() const {
  const std::scoped_lock lock(mutex_);
  return calls_.count() - given_up_;
}

std::size_t pending_calls::commands(std::size_t slots_max) const {
  std::size_t found_count = 0;
  const std::scoped_lock lock(mutex_);
  calls_.visit(
      [&](std::uint64_t, const call& each) {
        found_count += each.state != nullptr && each.answerer == answers::command ? 1 : 0;
      },
      slots_max);
  return found_count;
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
