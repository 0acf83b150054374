// SPDX-License-Identifier: Apache-2.0
// The promises of fixed_pool, each as a sentence.
#include <nacre/rng.hpp>

#include "base/fixed_pool.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/sanitized.hpp"

namespace nacre {
namespace {

TEST(fixed_pool, blocks_lie_apart_on_their_alignment_and_keep_what_is_written) {
  constexpr std::size_t bytes = 192, count = 50'000;  // several chunks
  fixed_pool pool(bytes, 64);
  std::vector<unsigned char*> blocks;
  for (std::size_t index = 0; index < count; ++index) {
    blocks.push_back(static_cast<unsigned char*>(pool.allocate()));
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(blocks.back()) % 64, 0U);
    std::memset(blocks.back(), static_cast<int>(index % 251), bytes);
  }
  for (std::size_t index = 0; index < count; ++index) {
    ASSERT_EQ(blocks[index][0], index % 251);
    ASSERT_EQ(blocks[index][bytes - 1], index % 251);
    pool.release(blocks[index]);
  }
}

#if !NACRE_UNDER_ASAN

TEST(fixed_pool, what_was_given_back_is_given_out_again) {
  fixed_pool pool(64, 64);
  std::set<void*> first;
  for (int index = 0; index < 1000; ++index) first.insert(pool.allocate());
  EXPECT_EQ(first.size(), 1000U);
  const std::size_t held = pool.bytes_held();
  for (void* each : first) pool.release(each);
  std::set<void*> second;
  for (int index = 0; index < 1000; ++index) second.insert(pool.allocate());
  EXPECT_EQ(second, first);
  EXPECT_EQ(pool.bytes_held(), held);
  for (void* each : second) pool.release(each);
}

TEST(fixed_pool, chunks_that_nobody_uses_go_back_to_the_system) {
  fixed_pool pool(64, 64);
  std::vector<void*> blocks;
  for (int index = 0; index < 200'000; ++index) blocks.push_back(pool.allocate());
  const std::size_t most = pool.bytes_held();
  EXPECT_GE(most, 200'000U * 64);
  EXPECT_LE(most, 200'000U * 64 * 11 / 10 + (std::size_t{2} << 20)) << "blocks lie side by side";
  rng random(3);
  for (std::size_t left = blocks.size(); left > 1; --left) std::swap(blocks[left - 1], blocks[random.below(left)]);
  for (void* each : blocks) pool.release(each);
  EXPECT_EQ(pool.bytes_held(), std::size_t{2} << 20) << "one is kept for the next object";
}

/// Returns the advice that the kernel has for the pages of an address: "hg" (huge pages), "nh" (small pages), or empty.
std::string page_advice(const void* position) {
  const auto place = reinterpret_cast<std::uintptr_t>(position);
  std::ifstream maps("/proc/self/smaps");
  bool is_here = false;
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::uintptr_t begin = 0, end = 0;
    char dash = 0;
    if (words >> std::hex >> begin >> dash >> end && dash == '-') is_here = begin <= place && place < end;
    if (!is_here || line.rfind("VmFlags:", 0) != 0) continue;
    for (const char* advice : {"hg", "nh"}) {
      if (line.find(std::string(" ") + advice) != std::string::npos) return advice;
    }
    return "";
  }
  return "";
}

TEST(fixed_pool, the_first_chunk_has_small_pages_and_the_others_huge_ones) {
  if (!std::filesystem::exists("/sys/kernel/mm/transparent_hugepage")) GTEST_SKIP() << "a kernel without huge pages";
  fixed_pool pool(64, 64);
  std::vector<void*> blocks{pool.allocate()};
  EXPECT_EQ(page_advice(blocks[0]), "nh");
  const std::size_t one = pool.bytes_held();
  for (std::size_t chunks = 2; chunks <= 3; ++chunks) {
    while (pool.bytes_held() < chunks * one) blocks.push_back(pool.allocate());
    EXPECT_EQ(page_advice(blocks.back()), "hg") << "chunk " << chunks;
  }
  EXPECT_EQ(page_advice(blocks[0]), "nh");
  for (void* each : blocks) pool.release(each);
}

#endif

TEST(fixed_pool, threads_never_have_the_same_block_at_once) {
  fixed_pool pool(64, 64);
  std::vector<std::thread> threads;
  std::vector<int> wrong(3, 0);
  for (int thread = 0; thread < 3; ++thread) {
    threads.emplace_back([&, thread] {
      rng random(static_cast<std::uint64_t>(thread) + 1);
      std::vector<int*> blocks;
      for (int round = 0; round < 30'000; ++round) {
        if (blocks.size() < 100 && random.below(2) == 0) {
          blocks.push_back(static_cast<int*>(pool.allocate()));
          blocks.back()[8] = thread;
        } else if (!blocks.empty()) {
          if (blocks.back()[8] != thread) ++wrong[static_cast<std::size_t>(thread)];
          pool.release(blocks.back());
          blocks.pop_back();
        }
      }
      for (int* each : blocks) pool.release(each);
    });
  }
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(wrong, std::vector<int>(3, 0));
}

}  // namespace
}  // namespace nacre
