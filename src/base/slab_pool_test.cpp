// SPDX-License-Identifier: Apache-2.0
// The promises of slab_pool, each as a sentence.
#include <nacre/rng.hpp>

#include "base/slab_pool.hpp"

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace nacre {
namespace {

TEST(slab_pool, blocks_are_aligned_and_do_not_overlap_at_any_size) {
  slab_pool pool;
  std::vector<std::pair<unsigned char*, std::size_t>> blocks;
  for (std::size_t bytes = 0; bytes <= 70000; bytes += bytes < 4500 ? 1 : 997) {
    auto* const block = static_cast<unsigned char*>(pool.allocate(bytes));
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(block) % 16, 0U);
    std::memset(block, static_cast<int>(bytes % 251), bytes);
    blocks.emplace_back(block, bytes);
  }
  for (const auto& [block, bytes] : blocks) {
    const auto expected = static_cast<unsigned char>(bytes % 251);
    ASSERT_TRUE(std::all_of(block, block + bytes, [=](unsigned char byte) { return byte == expected; })) << bytes;
    pool.release(block);
  }
}

TEST(slab_pool, its_own_newest_block_comes_back_first) {
  slab_pool pool;
  void* const first = pool.allocate(100);
  void* const second = pool.allocate(100);
  pool.release(first);
  pool.release(second);
  EXPECT_EQ(pool.allocate(90), second);
  EXPECT_EQ(pool.allocate(100), first);
}

TEST(slab_pool, a_block_freed_through_another_pool_returns_to_its_owner) {
  slab_pool owner, other;
  void* const block = owner.allocate(256);
  other.release(block);
  EXPECT_EQ(other.statistics().remote_frees, 0U) << "waits in a batch";
  other.flush_remote_frees();
  EXPECT_EQ(other.statistics().remote_frees, 1U);
  EXPECT_EQ(owner.allocate(256), block);
  EXPECT_NE(other.allocate(256), block);
}

TEST(slab_pool, the_foreign_blocks_that_a_pool_keeps_are_bounded_in_number_and_bytes) {
  slab_pool owner, other;
  for (const std::size_t bytes : {64, 256, 4096, 60000}) {
    const std::uint64_t returned_before = other.statistics().remote_frees;
    constexpr std::size_t count = 200;
    std::vector<void*> blocks;
    for (std::size_t i = 0; i < count; ++i) blocks.push_back(owner.allocate(bytes));
    for (void* const block : blocks) other.release(block);
    const std::uint64_t kept = count - (other.statistics().remote_frees - returned_before);
    EXPECT_LT(kept, 32U) << bytes;
    EXPECT_LT(kept * bytes, 32U * 1024) << bytes;
    other.flush_remote_frees();
  }
}

TEST(slab_pool, many_owners_at_once_get_all_their_blocks_back) {
  std::vector<slab_pool> owners(20);
  slab_pool other;
  std::vector<std::pair<std::size_t, void*>> blocks;
  for (std::size_t i = 0; i < 2000; ++i) blocks.emplace_back(i % owners.size(), owners[i % owners.size()].allocate(64));
  for (const auto& [owner, block] : blocks) other.release(block);
  other.flush_remote_frees();
  EXPECT_EQ(other.statistics().remote_frees, blocks.size());
  for (std::size_t i = 0; i < owners.size(); ++i) {
    std::set<void*> mine;
    for (const auto& [owner, block] : blocks) {
      if (owner == i) mine.insert(block);
    }
    for (std::size_t n = mine.size(); n > 0; --n) EXPECT_EQ(mine.erase(owners[i].allocate(64)), 1U);
  }
}

TEST(slab_pool, holds_no_more_memory_when_the_same_sizes_come_again) {
  slab_pool pool, other;
  const auto run = [&] {
    rng random(17);
    std::vector<void*> blocks;
    for (int i = 0; i < 3000; ++i) blocks.push_back(pool.allocate(random.below(3000)));
    for (void* const block : blocks) {
      if (random.below(2) == 0) {
        pool.release(block);
      } else {
        other.release(block);
      }
    }
    other.flush_remote_frees();
  };
  run();
  const std::uint64_t held = pool.statistics().bytes_held;
  EXPECT_GT(held, 0U);
  for (int round = 0; round < 5; ++round) run();
  EXPECT_EQ(pool.statistics().bytes_held, held);
}

TEST(slab_pool, a_message_with_a_round_payload_takes_hardly_more_than_its_bytes) {
  constexpr std::size_t head_bytes = 64, own_header_bytes = 16;
  for (std::size_t payload = 256; payload <= 48 * 1024; payload *= 2) {
    slab_pool pool;
    const std::size_t slab_bytes = std::max<std::size_t>(64 * 1024, 4 * (payload + 256)) + 64;
    const std::size_t count = 64 * slab_bytes / payload;
    for (std::size_t i = 0; i < count; ++i) static_cast<void>(pool.allocate(head_bytes + payload));
    const std::size_t needed = count * (payload + head_bytes + own_header_bytes + cache_line_bytes);
    EXPECT_LE(pool.statistics().bytes_held, needed + needed / 16 + slab_bytes) << payload;
  }
}

TEST(slab_pool, a_block_larger_than_the_largest_class_may_be_freed_through_any_pool) {
  slab_pool pool, other;
  other.release(pool.allocate(slab_pool::pooled_bytes_max + 1));
  slab_pool::release_unpooled(pool.allocate(1 << 20));
  EXPECT_EQ(pool.statistics().bytes_held, 0U);
  EXPECT_THROW((void)pool.allocate(~std::size_t{0}), std::bad_alloc);
}

TEST(slab_pool, works_for_threads_without_a_pool) {
  slab_pool pool;
  void* const pooled = pool.allocate(64);
  slab_pool::release_unpooled(pooled);
  EXPECT_EQ(pool.allocate(64), pooled);
  pool.release(slab_pool::allocate_unpooled(0));
}

TEST(slab_pool_death_test, a_second_release_aborts) {
  slab_pool pool, other;
  void* const own_bytes = pool.allocate(64);
  pool.release(own_bytes);
  EXPECT_DEATH(pool.release(own_bytes), "released twice");
  void* const foreign = pool.allocate(640);
  other.release(foreign);
  EXPECT_DEATH(pool.release(foreign), "released twice");
  alignas(16) char stack[64] = {};
  EXPECT_DEATH(pool.release(stack + 16), "not a block");
}

}  // namespace
}  // namespace nacre
