// SPDX-License-Identifier: Apache-2.0
// The states of nodes side by side, and the walk over nodes that have something.
#include "emulator/node_states.hpp"

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "emulator/node_order.hpp"

namespace nacre::emulator {
namespace {

int alive = 0;

template <std::size_t Words>
struct counted {
  counted() { ++alive; }
  ~counted() { --alive; }
  std::array<std::uint64_t, Words> words{};
};

template <std::size_t Words>
void expect_values_of_their_own() {
  constexpr std::uint32_t nodes = 1000;
  const std::vector<std::uint32_t> some{0, 1, 62, 63, 64, 65, 500, 999};
  {
    state_column column(detail::state_row_of<counted<Words>>(), nodes);
    for (const std::uint32_t node : some) {
      EXPECT_EQ(column.find(node), nullptr);
      static_cast<counted<Words>*>(column.make(node))->words.fill(node);
    }
    std::vector<std::uint32_t> values;
    column.for_each([&](std::uint32_t node, void* value) {
      values.push_back(node);
      EXPECT_EQ(value, column.find(node));
      for (const std::uint64_t word : static_cast<counted<Words>*>(value)->words) EXPECT_EQ(word, node);
    });
    EXPECT_EQ(values, some);
    EXPECT_EQ(column.count(), some.size());
    EXPECT_EQ(alive, static_cast<int>(some.size()));
  }
  EXPECT_EQ(alive, 0);
}

TEST(node_states, of_small_types_lie_side_by_side) { expect_values_of_their_own<1>(); }
TEST(node_states, of_types_larger_than_a_line) { expect_values_of_their_own<33>(); }
TEST(node_states, of_types_of_which_few_fit_a_slab) { expect_values_of_their_own<20'000>(); }

TEST(node_order, walks_over_the_nodes_that_have_a_count_and_no_others) {
  constexpr std::uint32_t nodes = 70'000;
  node_order order(nodes);
  using counts = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
  for (const counts& some :
       {counts{{0, 1}, {63, 2}, {64, 3}, {4095, 1}, {4096, 1}, {69'999, 5}}, counts{{7, 1}}, counts{}}) {
    for (const auto& [node, count] : some) {
      for (std::uint32_t k = 0; k < count; ++k) order.count(node);
    }
    counts match;
    order.walk(nodes,
               [&](std::uint32_t node, std::uint32_t& count) { match.emplace_back(node, std::exchange(count, 0)); });
    EXPECT_EQ(match, some);
  }
}

}  // namespace
}  // namespace nacre::emulator
