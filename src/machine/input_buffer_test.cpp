// SPDX-License-Identifier: Apache-2.0
// An input buffer keeps order: a message waits behind those that wait in the network.
#include "machine/input_buffer.hpp"

#include <gtest/gtest.h>

namespace nacre::machine {
namespace {

TEST(input_buffer, without_a_limit_is_never_closed) {
  input_buffer buffer;
  buffer.enter(1'000'000);
  EXPECT_FALSE(buffer.is_closed(0));
  EXPECT_FALSE(buffer.admits(0));
}

TEST(input_buffer, takes_what_comes_while_less_than_its_limit_waits) {
  input_buffer buffer;
  buffer.enter(60);
  EXPECT_FALSE(buffer.is_closed(100)) << "there is some room, though the next one may be longer";
  buffer.enter(60);
  EXPECT_TRUE(buffer.is_closed(100));
  buffer.leave(60);
  EXPECT_FALSE(buffer.is_closed(100));
}

TEST(input_buffer, stays_closed_until_those_in_the_network_have_entered) {
  input_buffer buffer;
  buffer.enter(100);
  buffer.hold_back();
  EXPECT_FALSE(buffer.admits(100));
  buffer.leave(100);
  EXPECT_TRUE(buffer.admits(100));
  EXPECT_TRUE(buffer.is_closed(100)) << "one that comes now would overtake";
  buffer.let_in();
  buffer.enter(100);
  EXPECT_EQ(buffer.held_back(), 0U);
  EXPECT_EQ(buffer.waiting(), 100U);
  EXPECT_FALSE(buffer.admits(100));
}

}  // namespace
}  // namespace nacre::machine
