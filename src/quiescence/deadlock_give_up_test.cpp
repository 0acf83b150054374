// SPDX-License-Identifier: Apache-2.0
// When coroutines give up that hold up the end of their object.
#include <gtest/gtest.h>

#include <cstdint>

#include "quiescence/deadlock_test_kit.hpp"

namespace nacre::quiescence {
namespace {

TEST(deadlock, lets_what_is_held_up_give_up_soon_when_nothing_happens_any_more) {
  for (const std::uint32_t size : {1U, 2U, 7U, 40U}) {
    job job(size);
    job.at(size - 1).held_up = 1;
    job.hurry();
    job.pass(200ms);
    EXPECT_EQ(job.gave_up, 1) << size << " ranks";
    job.pass(patience / 2);
    EXPECT_EQ(job.gave_up, 1) << "it has given up already";
    EXPECT_TRUE(job.told.empty()) << "something has happened";
  }
}

TEST(deadlock, lets_nothing_give_up_while_one_rank_works) {
  job job(7);
  job.at(6).held_up = 1;
  job.hurry();
  for (int i = 0; i < 200; ++i) {
    ++job.at(3).begun;
    job.pass(10ms);  // a step of the network
  }
  EXPECT_EQ(job.gave_up, 0);
  EXPECT_LE(job.sent, 12u * 40) << "looks become fewer";
  job.pass(4000ms);
  EXPECT_EQ(job.gave_up, 1);
}

TEST(deadlock, lets_nothing_give_up_while_code_has_not_returned_and_soon_after_that) {
  job job(7);
  job.at(6).held_up = 1;
  job.at(3).running = 1;
  job.hurry();
  job.pass(2 * patience);
  EXPECT_EQ(job.gave_up, 0);
  EXPECT_EQ(job.told.size(), 1U) << "it waits for that code";
  job.at(3).running = 0;
  ++job.at(3).units.done;
  job.pass(4000ms);
  EXPECT_EQ(job.gave_up, 1);
}

}  // namespace
}  // namespace nacre::quiescence
