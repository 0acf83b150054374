// SPDX-License-Identifier: Apache-2.0
// How many blocks a grid is cut into.
#include "emulator/partition.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace nacre::emulator {
namespace {

TEST(partition, cuts_a_grid_into_nearly_as_many_blocks_as_are_asked_for_also_if_that_number_is_prime) {
  const coordinates grid{34, 34, 36};
  for (const std::uint32_t asked : {1U, 2U, 16U, 36U, 37U, 41U, 148U, 997U, 4096U}) {
    const partition result(grid, asked);
    EXPECT_LE(result.blocks(), asked);
    EXPECT_GE(result.blocks(), asked - asked / 8) << asked;
  }
  const std::uint32_t most = partition(coordinates{6, 5, 4}, 4'000'000'000U).blocks();
  EXPECT_LE(most, 120U);
  EXPECT_GE(most, 80U);
  EXPECT_EQ(partition(grid, 0).blocks(), 1U);
}

}  // namespace
}  // namespace nacre::emulator
