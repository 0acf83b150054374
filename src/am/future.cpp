// SPDX-License-Identifier: Apache-2.0
// Completion of futures.
#include <nacre/future.hpp>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include <nacre/when_all.hpp>

#include "am/am_engine.hpp"
#include "base/exception_text.hpp"
#include "base/rank_life.hpp"
#include "exec/worker_pool.hpp"

namespace nacre::detail {

void future_state::complete_with(message_ptr reply, thread_context& thread) {
  if ((reply->header.flags & flag_failed) != 0) {
    // The type of the exception, a zero, and the line.
    const auto bytes = reply->payload();
    const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const std::size_t end = std::min(all.find('\0'), all.size());
    const std::string_view type = all.substr(0, end);
    const std::string text(all.substr(std::min(end + 1, all.size())));
    if (type == am_engine::type_of_absence) return complete_with_error(absent_error(text), thread);
    complete_with_error(call_error(text, std::string(type)), thread);
    return;
  }
  // The value's own code runs here, on the thread that has the reply. The caller gets an exception that it throws.
  try {
    if (!take(reply)) error_.emplace("the reply does not decode as the type that the caller expects");
  } catch (...) {
    error_.emplace("taking over the result of a call threw: " + text_of_thrown());
  }
  complete(thread);
}

call_error future_state::error_of_result() {
  try {
    throw;
  } catch (const call_error& error) {
    return error;
  } catch (...) {
    return call_error("taking over the result of a call threw: " + text_of_thrown());
  }
}

bool future_state::is_over(std::uint32_t life) noexcept { return rank_life::is_over(life); }

void throw_outlives_job() {
  throw usage_error(
      "a future whose result was not there when its job ended: wait for it in the function that nacre::run calls");
}

bool look_again(const thread_context& thread) { return thread.pool().look_again(thread); }

void future_state::complete_with_error(std::string name, thread_context& thread) {
  complete_with_error(call_error(name), thread);
}

void future_state::complete_with_error(call_error error, thread_context& thread) {
  error_ = std::move(error);
  complete(thread);
}

void future_state::complete(thread_context& thread) {
  // acq_rel: publishes value and error to `ready`, and acquires the waiter that `await` has published.
  if (state_.exchange(is_ready, std::memory_order_acq_rel) == is_awaited) waiter_->notify(*waiter_, thread);
}

namespace {

/// The list of what waits for the outermost call of a thread; null when there is none. Thread-local, as futures are
/// dropped without a thread context.
constinit thread_local future_state** parts_to_abandon = nullptr;
constinit thread_local future_state** parts_to_release = nullptr;
constinit thread_local part_completion** parts_to_complete = nullptr;

}  // namespace

/// Results that are there may hold values of the user, so references are given back behind all.
void future_state::abandon_part() noexcept {
  if (parts_to_abandon != nullptr) {
    next_part_ = std::exchange(*parts_to_abandon, this);
    return;
  }
  future_state* waiting = this;
  future_state* abandoned = nullptr;
  parts_to_abandon = &waiting;
  while (waiting != nullptr) {
    future_state& part = *std::exchange(waiting, waiting->next_part_);
    if (!part.ready()) part.on_abandon();
    part.next_part_ = std::exchange(abandoned, &part);
  }
  parts_to_abandon = nullptr;
  while (abandoned != nullptr) std::exchange(abandoned, abandoned->next_part_)->release_part();
}

void future_state::release_part() noexcept {
  // acq_rel: as in release.
  if (references_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (parts_to_release != nullptr) {
    next_part_ = std::exchange(*parts_to_release, this);
    return;
  }
  next_part_ = nullptr;  // it may have been a link of abandon_part
  future_state* waiting = this;
  parts_to_release = &waiting;
  while (waiting != nullptr) delete std::exchange(waiting, waiting->next_part_);
  parts_to_release = nullptr;
}

void part_completion::complete(thread_context& thread) {
  if (parts_to_complete != nullptr) {
    next_ = std::exchange(*parts_to_complete, this);
    return;
  }
  part_completion* waiting = this;
  struct outermost {
    explicit outermost(part_completion** list) noexcept { parts_to_complete = list; }
    ~outermost() { parts_to_complete = nullptr; }
    outermost(const outermost&) = delete;
    outermost& operator=(const outermost&) = delete;
  } const outermost(&waiting);
  while (waiting != nullptr) {
    part_completion& one = *std::exchange(waiting, waiting->next_);
    future_state& state = one.state_;  // holds the link, so it goes last
    state.complete(thread);
    state.release();
  }
}

void future_state::expect_no_waiter() const {
  // acquire: as in awaited_by.
  if (state_.load(std::memory_order_acquire) == is_awaited) {
    throw usage_error("a when_any of this future is not ready yet: wait for that one first, or drop it");
  }
}

bool future_state::await(waiter& w) {
  expect_no_waiter();
  if (ready()) return false;  // the completing thread may be reading the earlier waiter now
  waiter_ = &w;
  std::uint32_t expected = is_empty;
  // release: publishes the waiter to `complete`; acquire on failure: the value is there.
  return state_.compare_exchange_strong(expected, is_awaited, std::memory_order_acq_rel, std::memory_order_acquire);
}

bool future_state::withdraw() noexcept {
  std::uint32_t expected = is_awaited;
  // Against the exchange in `complete`: one of the two sees the waiter.
  return state_.compare_exchange_strong(expected, is_empty, std::memory_order_acq_rel, std::memory_order_acquire);
}

void future_state::throw_error() const {
  // The copy has its own text, because the last holder of this state may be another thread.
  switch (error_->kind_) {
    case call_error::kind::timed_out:
      throw timeout_error(error_->what());
    case call_error::kind::absent:
      throw absent_error(error_->what());
    case call_error::kind::failed:
      break;
  }
  throw call_error(error_->what(), error_->type());
}

}  // namespace nacre::detail
