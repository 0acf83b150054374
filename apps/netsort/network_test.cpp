// SPDX-License-Identifier: Apache-2.0
// The network sorts whatever comes.
#include "network.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace netsort {
namespace {

/// A network that sorts every sequence of zeros and ones sorts every sequence (Knuth, volume 3, theorem 5.3.4 Z).
TEST(network, sorts_every_sequence_of_zeros_and_ones) {
  for (const std::uint32_t wires : {2u, 4u, 8u, 16u}) {
    const network actor(wires);
    for (std::uint32_t bits = 0; bits < 1u << wires; ++bits) {
      std::vector<std::uint32_t> values(wires);
      for (std::uint32_t wire = 0; wire < wires; ++wire) values[wire] = bits >> wire & 1u;
      for (std::uint32_t step = 0; step < actor.steps(); ++step) {
        const std::vector<std::uint32_t> previous = values;
        for (std::uint32_t wire = 0; wire < wires; ++wire) {
          const comparator comparator = actor.at(wire, step);
          const auto [low, high] = std::minmax(previous[wire], previous[wire ^ comparator.distance]);
          values[wire] = comparator.keeps_low ? low : high;
        }
      }
      ASSERT_TRUE(std::is_sorted(values.begin(), values.end())) << wires << " wires, input " << bits;
      ASSERT_EQ(std::count(values.begin(), values.end(), 1u), std::popcount(bits));
    }
  }
}

/// Clam's figure 3 has as many steps, in which input 0 meets 1, 3, 1, 7, 2 and 1.
TEST(network, of_eight_wires_the_first_meets_these) {
  const network actor(8);
  std::vector<std::uint32_t> partners;
  for (std::uint32_t step = 0; step < actor.steps(); ++step) partners.push_back(actor.at(0, step).distance);
  EXPECT_EQ(partners, (std::vector<std::uint32_t>{1, 2, 1, 4, 2, 1}));
}

TEST(network, both_wires_of_a_comparator_agree_on_it_and_all_wires_take_part_in_every_step) {
  const network actor(64);
  EXPECT_EQ(actor.steps(), 21U);
  for (std::uint32_t step = 0; step < actor.steps(); ++step) {
    for (std::uint32_t wire = 0; wire < 64; ++wire) {
      const comparator mine = actor.at(wire, step), other = actor.at(wire ^ mine.distance, step);
      EXPECT_EQ(mine.distance, other.distance);
      EXPECT_NE(mine.keeps_low, other.keeps_low);
    }
  }
}

}  // namespace
}  // namespace netsort
