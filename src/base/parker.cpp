// SPDX-License-Identifier: Apache-2.0
// Sleeping and waking by the futex system call.
#include "base/parker.hpp"

#include <cerrno>
#include <ctime>
#include <string>
#include <system_error>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <nacre/assert.hpp>

namespace nacre {
namespace {

static_assert(sizeof(std::atomic<std::int32_t>) == sizeof(std::int32_t), "the kernel looks at the atomic itself");
static_assert(std::atomic<std::int32_t>::is_always_lock_free);

timespec deadline_after(std::chrono::nanoseconds timeout) {
  timespec deadline{};
  clock_gettime(CLOCK_MONOTONIC, &deadline);
  const auto nanoseconds = timeout.count() % 1'000'000'000 + deadline.tv_nsec;
  deadline.tv_sec += timeout.count() / 1'000'000'000 + nanoseconds / 1'000'000'000;
  deadline.tv_nsec = nanoseconds % 1'000'000'000;
  return deadline;
}

/// Sleeps while `word` holds `expected`, until `deadline` on CLOCK_MONOTONIC (null: for ever). Returns the error, or 0.
int futex_wait(std::atomic<std::int32_t>& word, std::int32_t expected, const timespec* deadline) {
  const long result =
      syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, expected, deadline, nullptr, FUTEX_BITSET_MATCH_ANY);
  return result == 0 ? 0 : errno;
}

void futex_wake_one(std::atomic<std::int32_t>& word) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

}  // namespace

bool parker::take_token() noexcept {
  std::int32_t expected = token;
  // Pairs with the exchange in unpark.
  return state_.compare_exchange_strong(expected, empty, std::memory_order_acquire);
}

bool parker::park_for(std::chrono::nanoseconds timeout) {
  if (take_token()) return true;
  if (timeout <= std::chrono::nanoseconds::zero()) return false;
  const bool for_ever = timeout == std::chrono::nanoseconds::max();
  const timespec deadline = for_ever ? timespec{} : deadline_after(timeout);

  std::int32_t expected = empty;
  // Fails when there is a token. Pairs with the exchange in unpark.
  if (!state_.compare_exchange_strong(expected, parked, std::memory_order_acquire)) {
    NACRE_EXPECT(expected == token, "only one thread may sleep in a parker");
    return take_token();
  }
  for (;;) {
    const int error = futex_wait(state_, parked, for_ever ? nullptr : &deadline);
    if (take_token()) return true;
    if (error != ETIMEDOUT) {
      NACRE_ASSERT(error == 0 || error == EINTR || error == EAGAIN, "futex: " + std::generic_category().message(error));
      continue;  // woken by a signal or without a cause
    }
    expected = parked;
    if (state_.compare_exchange_strong(expected, empty, std::memory_order_acquire)) return false;  // as in take_token
    return take_token();  // unpark came between the time-out and the exchange
  }
}

void parker::unpark() noexcept {
  // Publishes the waker's writes; pairs with the acquire in park_for and take_token.
  if (state_.exchange(token, std::memory_order_release) == parked) futex_wake_one(state_);
}

}  // namespace nacre
