// SPDX-License-Identifier: Apache-2.0
// Pipes with and without a reader, and a descriptor that is no pipe.
#include "base/drained.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <thread>

namespace nacre {
namespace {

using std::chrono::milliseconds;

class a_pipe : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(::pipe(ends.data()), 0); }
  void TearDown() override {
    for (const int end : ends) ::close(end);
  }
  std::array<int, 2> ends{};
};

TEST_F(a_pipe, that_nobody_reads_is_not_drained_in_time) {
  EXPECT_TRUE(drained(ends[1], milliseconds(0))) << "it is empty";
  ASSERT_EQ(::write(ends[1], "line\n", 5), 5);
  EXPECT_FALSE(drained(ends[1], milliseconds(5)));
}

TEST_F(a_pipe, is_drained_as_soon_as_all_has_been_read) {
  ASSERT_EQ(::write(ends[1], "line\n", 5), 5);
  std::thread reader([&] {
    std::array<char, 5> some{};
    EXPECT_EQ(::read(ends[0], some.data(), 2), 2);
    EXPECT_EQ(::read(ends[0], some.data(), 3), 3);
  });
  EXPECT_TRUE(drained(ends[1], milliseconds(30'000)));
  reader.join();
}

TEST(what_is_no_pipe, needs_no_reader) { EXPECT_TRUE(drained(-1, milliseconds(30'000))); }

}  // namespace
}  // namespace nacre
