// SPDX-License-Identifier: Apache-2.0
// The promises of the spinning waits, each as a sentence.
#include "base/spin.hpp"

#include <gtest/gtest.h>

namespace nacre {
namespace {

TEST(backoff, yields_the_processor_after_a_bounded_number_of_pauses_and_starts_over_on_reset) {
  backoff waiting;
  int pauses = 0;
  while (!waiting.yields() && pauses < 100) {
    waiting.pause();
    ++pauses;
  }
  EXPECT_GT(pauses, 3);
  EXPECT_LT(pauses, 100);
  waiting.pause();
  EXPECT_TRUE(waiting.yields());
  waiting.reset();
  EXPECT_FALSE(waiting.yields());
}

}  // namespace
}  // namespace nacre
