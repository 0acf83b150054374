// SPDX-License-Identifier: Apache-2.0
// The promises of the event queue, each as a sentence.
#include "machine/event_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace nacre::machine {
namespace {

using order = std::vector<std::uint64_t>;

[[nodiscard]] event numbered(std::uint64_t when_ns, std::uint64_t number) {
  return {when_ns, nullptr, nullptr, number};
}

[[nodiscard]] order drain(event_queue& queue) {
  order numbers;
  while (!queue.empty()) numbers.push_back(queue.pop().argument);
  return numbers;
}

/// Returns the order in which `count` events of one time come out.
[[nodiscard]] order simultaneous(std::uint64_t seed, std::uint64_t count) {
  event_queue queue{rng(seed)};
  for (std::uint64_t i = 0; i < count; ++i) queue.push(numbered(1000, i));
  return drain(queue);
}

TEST(event_queue, gives_events_back_by_time) {
  event_queue queue{rng(1)};
  constexpr std::array<std::uint64_t, 9> times{5'000'000'000, 3, 64, 63, 4096, 4095, 0, 1'000'000, 65};
  for (const std::uint64_t time : times) queue.push(numbered(time, time));
  EXPECT_EQ(queue.size(), times.size());
  EXPECT_EQ(drain(queue), (order{0, 3, 63, 64, 65, 4095, 4096, 1'000'000, 5'000'000'000}));
}

TEST(event_queue, equal_times_come_in_an_order_that_the_seed_decides) {
  EXPECT_EQ(simultaneous(7, 100), simultaneous(7, 100));
  EXPECT_NE(simultaneous(7, 100), simultaneous(8, 100));
}

TEST(event_queue, every_order_of_equal_times_is_about_equally_likely) {
  std::array<int, 6> seen{};
  constexpr int trials = 6000;
  for (std::uint64_t seed = 0; seed < trials; ++seed) {
    const order order = simultaneous(seed, 3);
    ++seen[static_cast<std::size_t>(order[0] * 2 + (order[1] > order[2] ? 1 : 0))];
  }
  for (const int times : seen) EXPECT_NEAR(times, trials / 6, 150);  // five standard deviations
}

TEST(event_queue, an_event_for_the_present_is_drawn_among_those_that_wait_for_it) {
  bool overtook = false;
  bool fell_behind = false;
  for (std::uint64_t seed = 0; seed < 64; ++seed) {
    event_queue queue{rng(seed)};
    queue.push(numbered(50, 0));
    queue.push(numbered(50, 1));
    (void)queue.pop();
    queue.push(numbered(50, 9));
    const order rest = drain(queue);
    ASSERT_EQ(rest.size(), 2U);
    overtook |= rest[0] == 9;
    fell_behind |= rest[1] == 9;
  }
  EXPECT_TRUE(overtook);
  EXPECT_TRUE(fell_behind);
}

TEST(event_queue, takes_events_again_after_it_ran_empty) {
  event_queue queue{rng(1)};
  queue.push(numbered(1'000'000, 1));
  EXPECT_EQ(drain(queue), order{1});
  queue.push(numbered(1'000'064, 2));
  queue.push(numbered(1'000'000, 3));
  EXPECT_EQ(drain(queue), (order{3, 2}));
}

TEST(event_queue, a_million_events_in_one_instant_and_as_many_in_a_row_come_back) {
  event_queue queue{rng(1)};
  constexpr std::uint64_t count = 1'000'000;
  for (std::uint64_t i = 0; i < count; ++i) {
    queue.push(numbered(77, i));
    queue.push(numbered(100 + i, count + i));
  }
  order together(count);
  for (std::uint64_t& number : together) number = queue.pop().argument;
  std::sort(together.begin(), together.end());
  for (std::uint64_t i = 0; i < count; ++i) ASSERT_EQ(together[i], i);
  for (std::uint64_t i = 0; i < count; ++i) ASSERT_EQ(queue.pop().argument, count + i);
  EXPECT_TRUE(queue.empty());
}

TEST(event_queue_death, an_event_before_the_present_aborts) {
  event_queue queue{rng(1)};
  queue.push(numbered(100, 0));
  (void)queue.pop();
  EXPECT_DEATH(queue.push(numbered(99, 1)), "before the present");
}

}  // namespace
}  // namespace nacre::machine
