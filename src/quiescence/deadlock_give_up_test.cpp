// SPDX-License-Identifier: Apache-2.0
// When coroutines give up that hold up the end of their object.
#include <gtest/gtest.h>

#include <cstdint>

#include "quiescence/deadlock_test_kit.hpp"

namespace nacre::quiescence {
namespace {

TEST(deadlock, lets_what_is_held_up_give_up_soon_when_nothing_happens_any_more) {
  for (const std::uint32_t size : {1U, 2U, 7U, 40U}) {
    job of(size);
    of.at(size - 1).held_up = 1;
    of.hurry();
    of.pass(200ms);
    EXPECT_EQ(of.gave_up, 1) << size << " ranks";
    of.pass(patience / 2);
    EXPECT_EQ(of.gave_up, 1) << "it has given up already";
    EXPECT_TRUE(of.told.empty()) << "something has happened";
  }
}

TEST(deadlock, lets_nothing_give_up_while_one_rank_works) {
  job of(7);
  of.at(6).held_up = 1;
  of.hurry();
  for (int i = 0; i < 200; ++i) {
    ++of.at(3).begun;
    of.pass(10ms);  // a step of the network
  }
  EXPECT_EQ(of.gave_up, 0);
  EXPECT_LE(of.sent, 12u * 40) << "looks become fewer";
  of.pass(4000ms);
  EXPECT_EQ(of.gave_up, 1);
}

TEST(deadlock, lets_nothing_give_up_while_code_has_not_returned_and_soon_after_that) {
  job of(7);
  of.at(6).held_up = 1;
  of.at(3).running = 1;
  of.hurry();
  of.pass(2 * patience);
  EXPECT_EQ(of.gave_up, 0);
  EXPECT_EQ(of.told.size(), 1U) << "it waits for that code";
  of.at(3).running = 0;
  ++of.at(3).units.done;
  of.pass(4000ms);
  EXPECT_EQ(of.gave_up, 1);
}

}  // namespace
}  // namespace nacre::quiescence
