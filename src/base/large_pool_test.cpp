// SPDX-License-Identifier: Apache-2.0
// The promises of large_pool, and of blocks that come from it, each as a sentence.
#include "base/large_pool.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <nacre/block.hpp>
#include <nacre/rng.hpp>

#include "base/slab_pool.hpp"

namespace nacre {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

/// Maps the system's pages and counts the bytes; mapping fails once `left` bytes are used up.
struct counted_item {
  static inline std::atomic<std::int64_t> mapped{0};
  static inline std::atomic<std::int64_t> left{0};
  static void* map(std::size_t bytes) noexcept {
    if (left.fetch_sub(static_cast<std::int64_t>(bytes)) < static_cast<std::int64_t>(bytes)) {
      left += static_cast<std::int64_t>(bytes);
      return nullptr;
    }
    mapped += static_cast<std::int64_t>(bytes);
    return system_pages().map(bytes);
  }
  static void unmap(void* position, std::size_t bytes) noexcept {
    mapped -= static_cast<std::int64_t>(bytes);
    left += static_cast<std::int64_t>(bytes);
    system_pages().unmap(position, bytes);
  }
  static page_source source(std::size_t bytes) {
    mapped = 0;
    left = static_cast<std::int64_t>(bytes);
    return {map, unmap};
  }
};

TEST(large_pool, a_class_holds_what_is_asked_for_and_wastes_a_fifth_at_most) {
  for (std::size_t bytes = 1; bytes <= large_pool::bytes_max; bytes += 1 + bytes / 100) {
    const std::uint32_t index = large_pool::class_of(bytes);
    ASSERT_GE(large_pool::usable_bytes(index), bytes);
    if (index == 0) continue;
    ASSERT_LT(large_pool::usable_bytes(index - 1), bytes) << "a smaller class would have done";
    ASSERT_LE((large_pool::usable_bytes(index) - bytes) * 5, large_pool::usable_bytes(index)) << bytes;
  }
}

TEST(large_pool, the_newest_block_comes_back_first_and_is_not_mapped_again) {
  large_pool pool(64 * mib, counted_item::source(1 << 30));
  const std::uint32_t index = large_pool::class_of(mib);
  void* const first = pool.take(index);
  void* const second = pool.take(index);
  const std::int64_t mapped = counted_item::mapped;
  pool.give_back(first, index);
  pool.give_back(second, index);
  EXPECT_EQ(pool.take(index), second);
  EXPECT_EQ(pool.take(index), first);
  EXPECT_EQ(counted_item::mapped, mapped);
  pool.give_back(first, index);
  pool.give_back(second, index);
  EXPECT_EQ(pool.statistics().bytes_live, 0U);
}

TEST(large_pool, what_it_keeps_is_bounded_over_all_classes_and_goes_back_in_the_end) {
  constexpr std::uint64_t bound = 10 * mib;
  {
    large_pool pool(bound, counted_item::source(1 << 30));
    rng random(5);
    std::vector<std::pair<void*, std::uint32_t>> live;
    for (int round = 0; round < 5; ++round) {
      for (int i = 0; i < 60; ++i) {
        const std::uint32_t index = large_pool::class_of(random.below(2 * mib));
        live.emplace_back(pool.take(index), index);
      }
      for (const auto& [block, index] : live) {
        pool.give_back(block, index);
        ASSERT_LE(pool.statistics().bytes_kept, bound);
      }
      live.clear();
      EXPECT_GT(pool.statistics().bytes_kept, bound / 2);
      EXPECT_EQ(static_cast<std::uint64_t>(counted_item::mapped), pool.statistics().bytes_kept);
    }
  }
  EXPECT_EQ(counted_item::mapped, 0);
}

TEST(large_pool, a_lower_bound_holds_at_once) {
  large_pool pool(64 * mib, counted_item::source(1 << 30));
  const std::uint32_t index = large_pool::class_of(mib);
  void* const one = pool.take(index);
  void* const other = pool.take(index);
  pool.give_back(one, index);
  pool.keep_at_most(mib / 2);
  EXPECT_EQ(pool.statistics().bytes_kept, 0U);
  pool.give_back(other, index);
  EXPECT_EQ(pool.statistics().bytes_kept, 0U);
  EXPECT_EQ(counted_item::mapped, 0);
}

TEST(large_pool, a_trim_returns_what_was_never_needed_since_the_last_one_and_keeps_the_rest) {
  using std::chrono::seconds;
  large_pool pool(64 * mib, counted_item::source(1 << 30));
  const std::uint32_t index = large_pool::class_of(mib);
  std::vector<void*> blocks;
  for (int i = 0; i < 10; ++i) blocks.push_back(pool.take(index));
  for (void* const block : blocks) pool.give_back(block, index);
  const std::uint64_t all = pool.statistics().bytes_kept;
  pool.trim_when_due(seconds(1));
  EXPECT_EQ(pool.statistics().bytes_kept, all) << "they have just been in use";
  std::vector<void*> again;
  for (int i = 0; i < 3; ++i) again.push_back(pool.take(index));
  for (void* const block : again) pool.give_back(block, index);
  pool.trim_when_due(seconds(1) + large_pool::trim_period / 2);
  EXPECT_EQ(pool.statistics().bytes_kept, all) << "too early";
  pool.trim_when_due(seconds(1) + large_pool::trim_period);
  EXPECT_EQ(pool.statistics().bytes_kept, all / 10 * 3) << "three were in use at a time";
  EXPECT_EQ(pool.take(index), again[2]) << "the warmest ones are those that stay";
  pool.give_back(again[2], index);
  pool.trim_when_due(seconds(10));
  pool.trim_when_due(seconds(20));
  EXPECT_EQ(pool.statistics().bytes_kept, 0U);
}

TEST(large_pool, unmaps_what_it_keeps_before_it_says_that_there_is_no_memory) {
  large_pool pool(64 * mib, counted_item::source(9 * mib));
  const std::uint32_t small = large_pool::class_of(mib), large = large_pool::class_of(8 * mib);
  void* const one = pool.take(small);
  void* const other = pool.take(small);
  pool.give_back(one, small);
  EXPECT_EQ(pool.take(large), nullptr);
  pool.give_back(other, small);
  void* const all = pool.take(large);
  ASSERT_NE(all, nullptr);
  EXPECT_EQ(pool.statistics().bytes_kept, 0U);
  pool.give_back(all, large);
}

TEST(large_block, is_aligned_and_of_the_size_asked_for_at_any_size) {
  std::vector<std::pair<unsigned char*, std::size_t>> blocks;
  for (std::size_t bytes = 60'000; bytes < 3 * mib; bytes += bytes / 9) {
    auto* const block = static_cast<unsigned char*>(allocate_block(bytes));
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(block) % 16, 0U);
    std::memset(block, static_cast<int>(bytes % 251), bytes);
    blocks.emplace_back(block, bytes);
  }
  for (const auto& [block, bytes] : blocks) {
    const auto expected = static_cast<unsigned char>(bytes % 251);
    ASSERT_TRUE(std::all_of(block, block + bytes, [=](unsigned char byte) { return byte == expected; })) << bytes;
    release_block(block);
  }
}

TEST(large_block, beyond_the_largest_class_is_possible_too) {
  auto* const block = static_cast<std::byte*>(allocate_block(large_pool::bytes_max + 5000));
  block[0] = block[large_pool::bytes_max + 4999] = std::byte{1};
  release_block(block);
}

TEST(large_block, may_be_released_by_any_thread_while_others_take_and_release) {
  constexpr int rounds = 300;
  std::mutex mutex;
  std::deque<std::uint64_t*> under_way;
  std::atomic<int> damaged{0};
  const auto run = [&](std::uint64_t seed) {
    rng random(seed);
    for (int i = 0; i < rounds; ++i) {
      const std::uint64_t words = (70'000 + random.below(4) * 100'000) / 8;
      auto* const mine = static_cast<std::uint64_t*>(allocate_block(words * 8));
      mine[0] = words;
      mine[1] = mine[words - 1] = seed * 1000 + static_cast<std::uint64_t>(i);
      std::uint64_t* other = nullptr;
      {
        const std::scoped_lock lock(mutex);
        under_way.push_back(mine);
        if (under_way.size() > 4) {
          other = under_way.front();
          under_way.pop_front();
        }
      }
      if (other == nullptr) continue;
      if (other[1] != other[other[0] - 1]) ++damaged;
      release_block(other);
    }
  };
  std::thread one(run, 1), two(run, 2);
  run(3);
  one.join();
  two.join();
  EXPECT_EQ(damaged, 0);
  for (std::uint64_t* const block : under_way) release_block(block);
}

TEST(large_block, of_which_there_is_no_memory_is_refused_with_a_line_that_says_what_to_try) {
  constexpr std::size_t too_much = std::size_t{1} << 62;
  try {
    release_block(allocate_block(too_much));
    FAIL() << "2^62 bytes were given out";
  } catch (const std::bad_alloc& problem) {
    const std::string text = problem.what();
    EXPECT_NE(text.find("4611686018427387904 bytes"), std::string::npos) << text;
    EXPECT_NE(text.find("receive_memory"), std::string::npos) << text;
    EXPECT_NE(text.find("ulimit -v"), std::string::npos) << text;
  }
}

TEST(large_block_death_test, released_twice_aborts) {
  slab_pool pool;
  void* const block = pool.allocate(mib);
  pool.release(block);
  EXPECT_DEATH(pool.release(block), "released twice");
}

}  // namespace
}  // namespace nacre
