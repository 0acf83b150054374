// SPDX-License-Identifier: Apache-2.0
// The allowed accesses to a segment, and its end.
#include "am/memory_segments.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace nacre {
namespace {

using detail::memory_access;
using detail::memory_name;
using intent = memory_segments::intent;
using bytes = std::vector<std::byte>;

TEST(memory_segments, a_withdrawn_segment_is_refused_and_so_is_writing_to_a_constant_one) {
  memory_segments s(rank_id(3));
  bytes memory(10);
  const memory_name fixed = s.expose(memory, memory_access::read_only, {1, 2});
  EXPECT_EQ(s.access(fixed, 0, 10, intent::write).error(), memory_status::read_only);
  EXPECT_TRUE(s.access(fixed, 0, 10, intent::read));
  memory_name other = fixed;
  other.key[1] = 3;
  EXPECT_FALSE(s.withdraw(other));
  other = fixed;
  other.rank = 2;
  EXPECT_FALSE(s.withdraw(other));
  EXPECT_TRUE(s.withdraw(fixed));
  EXPECT_FALSE(s.withdraw(fixed));
  EXPECT_EQ(s.access(fixed, 0, 0, intent::read).error(), memory_status::withdrawn);
  EXPECT_EQ(s.count(), 0U);
  EXPECT_NE(s.expose(memory, memory_access::read_only, {1, 2}).segment, fixed.segment);
}

TEST(memory_segments, refuses_when_numbers_have_run_out) {
  memory_segments s(rank_id(3), ~std::uint32_t{0} - 1);
  bytes memory(10);
  const memory_name last = s.expose(memory, memory_access::read_write, {1, 2});
  EXPECT_TRUE(s.access(last, 0, 10, intent::write));
  EXPECT_THROW(static_cast<void>(s.expose(memory, memory_access::read_write, {1, 2})), usage_error);
  EXPECT_TRUE(s.access(last, 0, 10, intent::write));
  EXPECT_TRUE(s.withdraw(last));
}

TEST(memory_segments, nothing_touches_the_memory_after_withdraw_has_returned) {
  for (int round = 0; round < 30; ++round) {
    memory_segments s(rank_id(0));
    auto memory = std::make_unique<bytes>(64);
    const memory_name name = s.expose(*memory, memory_access::read_write, {7, 8});
    std::atomic<int> ready{0};
    std::vector<std::thread> others;
    std::atomic<std::uint64_t> touched{0};
    for (std::size_t index = 0; index < 2; ++index) {
      others.emplace_back([&, index] {
        for (bool first = true;; first = false) {
          auto range = s.access(name, index * 32, 32, intent::write);
          if (!range) break;
          for (std::byte& each : range->bytes()) each = static_cast<std::byte>(index);
          ++touched;
          if (first) ++ready;
        }
      });
    }
    while (ready != 2) std::this_thread::yield();
    ASSERT_TRUE(s.withdraw(name));
    const std::uint64_t previous = touched;
    std::fill(memory->begin(), memory->end(), std::byte{9});  // a race, were anybody still there
    EXPECT_TRUE(std::all_of(memory->begin(), memory->end(), [](std::byte each) { return each == std::byte{9}; }));
    memory.reset();
    for (std::thread& each : others) each.join();
    EXPECT_LE(touched, previous + 2);  // counted after its lease
  }
}

}  // namespace
}  // namespace nacre
