// SPDX-License-Identifier: Apache-2.0
// The state of a future between the thread that completes it and the one that waits.
#include <nacre/future.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "exec/thread_pool_test_kit.hpp"

namespace nacre {
namespace {

struct counting_waiter : detail::waiter {
  counting_waiter() noexcept
      : waiter{[](waiter& self, thread_context&) { ++static_cast<counting_waiter&>(self).notified; }} {}
  std::atomic<int> notified{0};
};

/// As when_any does: its parts may be waited for again as soon as one of them is ready.
TEST(future_state, notifies_the_waiter_that_it_had_when_another_one_comes_at_the_moment_of_the_result) {
  constexpr int rounds = 500;
  exec_test::threaded_rank rank{exec_test::setting{}};
  std::atomic<detail::future_state*> handed{nullptr};
  std::thread completer([&] {
    for (int round = 0; round < rounds; ++round) {
      detail::future_state* state = nullptr;
      while ((state = handed.exchange(nullptr)) == nullptr) std::this_thread::yield();
      state->complete_with_error("no value", rank.pool.application());
      state->release();
    }
  });
  for (int round = 0; round < rounds; ++round) {
    auto* const state = new detail::future_value<int>;
    state->acquire();
    counting_waiter before, after;
    EXPECT_TRUE(state->await(before));
    handed = state;
    while (!state->ready()) std::this_thread::yield();
    EXPECT_FALSE(state->await(after));
    while (before.notified + after.notified == 0) std::this_thread::yield();
    EXPECT_EQ(before.notified, 1);
    EXPECT_EQ(after.notified, 0);
    state->release();
  }
  completer.join();
}

}  // namespace
}  // namespace nacre
