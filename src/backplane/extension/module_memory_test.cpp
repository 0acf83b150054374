// SPDX-License-Identifier: Apache-2.0
// The bounded heap of a module.
#include "backplane/extension/module_memory.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <new>
#include <vector>

namespace nacre {
namespace {

TEST(module_memory, it_holds_no_more_than_its_limit_and_says_so) {
  module_memory heap(1000);
  void* const first = heap.allocate(500);
  EXPECT_FALSE(heap.exhausted());
  EXPECT_THROW(static_cast<void>(heap.allocate(500)), std::bad_alloc);  // the heads count
  const volatile std::size_t too_much =
      SIZE_MAX;  // volatile: the compiler refuses a size that it knows to be too large
  EXPECT_THROW(static_cast<void>(heap.allocate(too_much)), std::bad_alloc);
  EXPECT_TRUE(heap.exhausted());
  heap.deallocate(first, 500);
  EXPECT_EQ(heap.bytes(), 0U);
  heap.deallocate(heap.allocate(900), 900);
}

TEST(module_memory, blocks_are_aligned_as_asked) {
  module_memory heap(1 << 20);
  for (const std::size_t alignment : {1, 8, 16, 64, 4096}) {
    void* const block = heap.allocate(10, alignment);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % alignment, 0U);
    heap.deallocate(block, 10, alignment);
  }
  EXPECT_EQ(heap.bytes(), 0U);
}

TEST(module_memory, blocks_that_are_left_are_freed_together) {
  module_memory heap(1 << 20);
  std::vector<void*> blocks;
  for (std::size_t i = 1; i < 100; ++i) blocks.push_back(heap.allocate(i, 16));
  for (std::size_t i = 1; i < 100; i += 2) heap.deallocate(blocks[i - 1], i, 16);
  EXPECT_EQ(heap.blocks(), 49U);
  heap.release();
  EXPECT_EQ(heap.blocks(), 0U);
  EXPECT_EQ(heap.bytes(), 0U);
}

}  // namespace
}  // namespace nacre
