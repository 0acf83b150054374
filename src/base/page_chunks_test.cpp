// SPDX-License-Identifier: Apache-2.0
// The promises of page_chunks, each as a sentence.
#include <nacre/rng.hpp>

#include "base/page_chunks.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace nacre {
namespace {

constexpr std::size_t page = page_chunks::page_bytes;
constexpr std::size_t one_mib = std::size_t{1} << 20;

bool is_mapped(const void* position) {
  const auto start = reinterpret_cast<std::uintptr_t>(position) / page * page;
  return ::msync(reinterpret_cast<void*>(start), page, MS_ASYNC) == 0 || errno != ENOMEM;
}

bool is_resident(const std::byte* position) {
  unsigned char held = 0;
  EXPECT_EQ(::mincore(const_cast<std::byte*>(position), page, &held), 0);
  return (held & 1) != 0;
}

TEST(page_chunks, blocks_of_every_size_lie_apart_and_are_zeroed) {
  page_chunks chunks;
  struct block {
    std::byte* address;
    std::size_t bytes;
  };
  std::vector<block> live;
  for (std::size_t bytes = 17 * page; bytes < page_chunks::huge_page_bytes; bytes += 29 * page) {
    for (std::size_t i = 0; i < 3 * page_chunks::chunk_bytes / bytes / 2; ++i) {
      auto* const address = static_cast<std::byte*>(chunks.map(bytes));
      ASSERT_NE(address, nullptr);
      ASSERT_EQ(reinterpret_cast<std::uintptr_t>(address) % page, 0U);
      ASSERT_TRUE(address[0] == std::byte{0} && address[bytes - 1] == std::byte{0});
      address[0] = address[bytes - 1] = std::byte{1};
      live.push_back({address, bytes});
    }
  }
  std::sort(live.begin(), live.end(), [](const block& a, const block& b) { return a.address < b.address; });
  for (std::size_t i = 1; i < live.size(); ++i) ASSERT_GE(live[i].address, live[i - 1].address + live[i - 1].bytes);
  for (const block& each : live) chunks.unmap(each.address, each.bytes);
}

TEST(page_chunks, blocks_share_a_chunk_and_a_block_that_came_back_is_used_again) {
  page_chunks chunks;
  const std::size_t bytes = one_mib + page;
  std::vector<std::byte*> blocks;
  for (int i = 0; i < 7; ++i) blocks.push_back(static_cast<std::byte*>(chunks.map(bytes)));
  for (std::byte* const each : blocks) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(each) / page_chunks::chunk_bytes,
              reinterpret_cast<std::uintptr_t>(blocks[0]) / page_chunks::chunk_bytes);
  }
  auto* const other = static_cast<std::byte*>(chunks.map(bytes));
  EXPECT_NE(reinterpret_cast<std::uintptr_t>(other) / page_chunks::chunk_bytes,
            reinterpret_cast<std::uintptr_t>(blocks[0]) / page_chunks::chunk_bytes);
  chunks.unmap(other, bytes);
  chunks.unmap(blocks[3], bytes);
  EXPECT_EQ(chunks.map(bytes), blocks[3]);
  for (std::byte* const each : blocks) chunks.unmap(each, bytes);
}

TEST(page_chunks, memory_goes_back_to_the_system_block_by_block_and_the_chunk_with_its_last_one) {
  page_chunks chunks;
  const std::size_t bytes = one_mib / 2 + page;
  auto* const first = static_cast<std::byte*>(chunks.map(bytes));
  auto* const second = static_cast<std::byte*>(chunks.map(bytes));
  std::memset(first, 1, bytes);
  std::memset(second, 2, bytes);
  chunks.unmap(first, bytes);
  EXPECT_TRUE(is_mapped(first));
  EXPECT_TRUE(is_resident(second + 64 * page));
  EXPECT_FALSE(is_resident(first + 64 * page));
  EXPECT_TRUE(std::all_of(second, second + bytes, [](std::byte each) { return each == std::byte{2}; }));
  ASSERT_EQ(chunks.map(bytes), first);
  EXPECT_EQ(first[64 * page], std::byte{0});
  chunks.unmap(second, bytes);
  chunks.unmap(first, bytes);
  EXPECT_FALSE(is_mapped(first));
}

TEST(page_chunks, small_pages_lie_on_their_boundary_and_take_memory_one_by_one) {
  constexpr std::size_t bytes = 2 * one_mib, boundary = 64 * one_mib;
  auto* const position = static_cast<std::byte*>(map_small_pages(bytes, boundary));
  ASSERT_NE(position, nullptr);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(position) % boundary, 0U);
  position[one_mib] = position[bytes - 1] = std::byte{1};
  std::vector<std::size_t> taken;
  for (std::size_t index = 0; index < bytes / page; ++index) {
    if (is_resident(position + index * page)) taken.push_back(index);
  }
  EXPECT_EQ(taken, (std::vector<std::size_t>{one_mib / page, bytes / page - 1}));
  ASSERT_EQ(::munmap(position, bytes), 0);
}

TEST(page_chunks, may_be_used_by_several_threads) {
  page_chunks chunks;
  const auto run = [&](std::uint64_t seed) {
    rng random(seed);
    std::vector<std::pair<std::byte*, std::size_t>> live;
    for (int i = 0; i < 2000; ++i) {
      if (live.size() < 20 && random.below(2) == 0) {
        const std::size_t bytes = (1 + random.below(3)) * 64 * page;
        auto* const address = static_cast<std::byte*>(chunks.map(bytes));
        ASSERT_EQ(address[bytes / 2], std::byte{0});
        address[bytes / 2] = static_cast<std::byte>(seed);
        live.emplace_back(address, bytes);
      } else if (!live.empty()) {
        std::swap(live[random.below(live.size())], live.back());
        const auto [address, bytes] = live.back();
        ASSERT_EQ(address[bytes / 2], static_cast<std::byte>(seed)) << "somebody else has it, too";
        chunks.unmap(address, bytes);
        live.pop_back();
      }
    }
    for (const auto& [address, bytes] : live) chunks.unmap(address, bytes);
  };
  std::thread one(run, 1), two(run, 2);
  run(3);
  one.join();
  two.join();
}

}  // namespace
}  // namespace nacre
