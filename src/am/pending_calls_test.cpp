// SPDX-License-Identifier: Apache-2.0
// The promises of pending_calls, each as a sentence.
#include "am/pending_calls.hpp"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

namespace nacre {
namespace {

using value = detail::future_value<void>;

TEST(pending_calls, a_number_finds_its_call_once) {
  pending_calls calls;
  auto* const state = new value;
  const std::uint64_t number = calls.open(*state);
  EXPECT_NE(number, 0U);
  EXPECT_EQ(calls.count(), 1U);
  EXPECT_EQ(calls.close(number), state);
  EXPECT_EQ(calls.close(number), nullptr);
  EXPECT_EQ(calls.count(), 0U);
  state->release();
  state->release();
}

TEST(pending_calls, a_number_is_never_given_twice_though_its_place_is) {
  pending_calls calls;
  std::set<std::uint64_t> numbers;
  auto* const state = new value;
  for (int round = 0; round < 1000; ++round) {
    const std::uint64_t number = calls.open(*state);
    EXPECT_TRUE(numbers.insert(number).second);
    ASSERT_EQ(calls.close(number), state);
    state->release();
  }
  for (const std::uint64_t each : numbers) EXPECT_EQ(calls.close(each), nullptr);
  state->release();
}

TEST(pending_calls, forged_numbers_find_nothing) {
  pending_calls calls;
  auto* const state = new value;
  const std::uint64_t number = calls.open(*state);
  for (const std::uint64_t forged : {std::uint64_t{0}, number + 1, number + (std::uint64_t{1} << 32), ~number}) {
    EXPECT_EQ(calls.close(forged), nullptr) << forged;
  }
  EXPECT_EQ(calls.close(number), state);
  state->release();
  state->release();
}

TEST(pending_calls, calls_that_never_come_back_are_given_up_with_the_rank) {
  auto* const state = new value;
  {
    pending_calls calls;
    static_cast<void>(calls.open(*state));
  }
  EXPECT_FALSE(state->ready());
  state->release();  // the last reference: the leak checker sees when it is not
}

TEST(pending_calls, many_threads_open_and_close_their_own) {
  pending_calls calls;
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int thread = 0; thread < 3; ++thread) {
    threads.emplace_back([&] {
      auto* const state = new value;
      for (int round = 0; round < 2000; ++round) {
        if (calls.close(calls.open(*state)) != state) ++wrong;
        state->release();
      }
      state->release();
    });
  }
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(calls.count(), 0U);
}

}  // namespace
}  // namespace nacre
