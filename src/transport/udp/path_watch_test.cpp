// SPDX-License-Identifier: Apache-2.0
// When a silent peer is asked, and when its path counts as broken.
#include <gtest/gtest.h>

#include <chrono>

#include "transport/udp/path_watch.hpp"

namespace nacre::transport::udp {
namespace {

using std::chrono::seconds;
using advice = path_watch::advice;

class udp_path_watch : public testing::Test {
 protected:
  static constexpr seconds silence_max{16};

  [[nodiscard]] advice look(bool waiting = true) { return watch_.look(waiting, now_); }
  [[nodiscard]] bool answer() { return watch_.on_answer(now_); }
  void pass(seconds time) { now_ += time; }

  path_watch watch_{silence_max};
  time_point now_{seconds(1000)};
};

TEST_F(udp_path_watch, asks_after_a_long_silence_and_not_again_before_the_answer) {
  EXPECT_EQ(look(), advice::nothing);
  pass(seconds(15));
  EXPECT_EQ(look(), advice::nothing);
  pass(seconds(1));
  EXPECT_EQ(look(), advice::ask);
  for (int hour = 0; hour < 5; ++hour) {
    pass(seconds(3600));
    EXPECT_EQ(look(), advice::nothing) << "a peer that computes is asked once";
  }
  EXPECT_FALSE(answer());
}

TEST_F(udp_path_watch, finds_a_path_broken_when_the_peer_answers_three_times_and_no_datagram_comes) {
  EXPECT_EQ(look(), advice::nothing);
  pass(silence_max);
  ASSERT_EQ(look(), advice::ask);
  EXPECT_FALSE(answer());
  EXPECT_EQ(look(), advice::nothing) << "what was sent meanwhile needs time to come";
  pass(seconds(2));
  ASSERT_EQ(look(), advice::ask);
  EXPECT_FALSE(answer());
  pass(seconds(2));
  ASSERT_EQ(look(), advice::ask);
  EXPECT_TRUE(answer());
}

TEST_F(udp_path_watch, begins_anew_with_each_datagram_and_when_nothing_waits) {
  for (const bool datagram : {true, false}) {
    EXPECT_EQ(look(), advice::nothing);
    pass(silence_max);
    for (int question = 0; question < 2; ++question) {
      ASSERT_EQ(look(), advice::ask);
      EXPECT_FALSE(answer());
      pass(seconds(2));
    }
    if (datagram) {
      watch_.on_heard(now_);
    } else {
      EXPECT_EQ(look(false), advice::nothing);
    }
    pass(seconds(15));
    EXPECT_EQ(look(), advice::nothing);
    pass(seconds(1));
    ASSERT_EQ(look(), advice::ask);
    EXPECT_FALSE(answer()) << "the first in a row again";
    watch_.on_heard(now_);
  }
}

TEST_F(udp_path_watch, does_not_count_an_answer_that_a_datagram_has_overtaken_nor_one_to_no_question) {
  EXPECT_FALSE(answer());
  EXPECT_EQ(look(), advice::nothing);
  pass(silence_max);
  for (int round = 0; round < 5; ++round) {
    ASSERT_EQ(look(), advice::ask);
    watch_.on_heard(now_);
    pass(silence_max);
    EXPECT_EQ(look(), advice::nothing) << "the answer to the first question is still under way";
    EXPECT_FALSE(answer());
  }
  for (int question = 1; question <= 3; ++question) {
    ASSERT_EQ(look(), advice::ask);
    EXPECT_EQ(answer(), question == 3);
    pass(seconds(2));
  }
}

}  // namespace
}  // namespace nacre::transport::udp
