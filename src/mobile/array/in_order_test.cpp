// SPDX-License-Identifier: Apache-2.0
// Items come out in the order of their numbers, each once.
#include <nacre/rng.hpp>

#include "mobile/array/in_order.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace nacre {
namespace {

TEST(in_order, gives_items_in_sequence_in_whatever_order_they_come) {
  rng random(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::uint32_t> order(1 + random.below(30));
    std::iota(order.begin(), order.end(), 0U);
    for (std::size_t i = order.size() - 1; i > 0; --i) std::swap(order[i], order[random.below(i + 1)]);
    in_order<std::uint32_t> under_test;
    std::vector<std::uint32_t> taken;
    std::size_t admitted = 0;
    for (const std::uint32_t number : order) {
      ASSERT_TRUE(under_test.admit(number, number * 3, [&](std::uint32_t item) { taken.push_back(item); }));
      ASSERT_EQ(taken.size() + under_test.early_count(), ++admitted);
    }
    ASSERT_EQ(taken.size(), order.size());
    for (std::uint32_t number = 0; number < taken.size(); ++number) ASSERT_EQ(taken[number], number * 3);
  }
}

TEST(in_order, refuses_a_number_that_has_come_before) {
  in_order<int> under_test;
  const auto drop = [](int) {};
  EXPECT_TRUE(under_test.admit(0, 1, drop));
  EXPECT_FALSE(under_test.admit(0, 1, drop)) << "taken";
  EXPECT_TRUE(under_test.admit(2, 1, drop));
  EXPECT_FALSE(under_test.admit(2, 1, drop)) << "set aside";
  EXPECT_EQ(under_test.early_count(), 1U);
}

TEST(in_order, numbers_wrap) {
  in_order<int> under_test(~std::uint32_t{0} - 1);
  std::vector<int> taken;
  const auto take = [&](int item) { taken.push_back(item); };
  EXPECT_TRUE(under_test.admit(0, 2, take));
  EXPECT_TRUE(under_test.admit(~std::uint32_t{0}, 1, take));
  EXPECT_TRUE(under_test.admit(~std::uint32_t{0} - 1, 0, take));
  EXPECT_FALSE(under_test.admit(~std::uint32_t{0}, 1, take));
  EXPECT_TRUE(under_test.admit(1, 3, take));
  EXPECT_EQ(taken, (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(under_test.early_count(), 0U);
}

/// An item may be admitted from within take, as a handler that runs at once may send.
TEST(in_order, has_taken_an_item_off_before_it_gives_it_away) {
  in_order<int> under_test;
  std::vector<int> taken;
  EXPECT_TRUE(under_test.admit(1, 11, [&](int) { FAIL() << "it is early"; }));
  EXPECT_TRUE(under_test.admit(0, 10, [&](int item) {
    taken.push_back(item);
    if (item == 11) {
      EXPECT_TRUE(under_test.admit(2, 12, [&](int next) { taken.push_back(next); }));
    }
  }));
  EXPECT_EQ(taken, (std::vector<int>{10, 11, 12}));
}

}  // namespace
}  // namespace nacre
