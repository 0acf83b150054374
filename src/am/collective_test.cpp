// SPDX-License-Identifier: Apache-2.0
// Collectives on every size of tree under seeded delays, against the results of a single loop.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "am/collective_test_kit.hpp"

namespace nacre {
namespace {

TEST(collective_engine, every_size_and_root_gets_every_result) {
  for (std::uint32_t size = 1; size <= 33; ++size) {
    for (std::uint32_t root = 0; root < size; ++root) {
      shuffled_machine m(size, 1 + (size + root) % 5, size * 100 + root);
      m.run({broadcast_from(root), barrier_call, [](rank_id self) { return sum_of(self.value()); }});
      ASSERT_TRUE(m.complete(3)) << size << " ranks, root " << root;
      ASSERT_FALSE(m.left_before_all_entered);
      ASSERT_FALSE(m.refused);
      for (std::uint32_t rank = 0; rank < size; ++rank) {
        ASSERT_EQ(value_of<std::uint32_t>(m.result(rank, 0)), root);
        ASSERT_TRUE(m.result(rank, 1).empty());
        ASSERT_EQ(value_of<double>(m.result(rank, 2)), size * (size - 1) / 2.0);
      }
    }
  }
}

TEST(collective_engine, numbers_wrap) {
  shuffled_machine m(17, 3, 5, ~std::uint32_t{0} - 2);
  m.run({barrier_call, [](rank_id self) { return sum_of(self.value()); }, broadcast_from(3), barrier_call,
         [](rank_id self) { return sum_of(self.value()); }, broadcast_from(16)},
        4);
  ASSERT_TRUE(m.complete(6));
  EXPECT_FALSE(m.left_before_all_entered);
  EXPECT_FALSE(m.refused);
  for (std::uint32_t rank = 0; rank < 17; ++rank) {
    EXPECT_EQ(value_of<double>(m.result(rank, 1)), 17 * 16 / 2.0);
    EXPECT_EQ(value_of<double>(m.result(rank, 4)), 17 * 16 / 2.0);
    EXPECT_EQ(value_of<std::uint32_t>(m.result(rank, 5)), 16U);
  }
}

TEST(collective_engine, a_floating_point_sum_is_the_same_to_the_last_bit_in_every_schedule) {
  const auto tenth = [](rank_id self) { return sum_of(0.1 * self.value() + 1e9 / (1 + self.value())); };
  std::optional<bytes> first;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    shuffled_machine m(23, 3, seed);
    m.run({tenth});
    ASSERT_TRUE(m.complete(1));
    if (!first) first = m.result(0, 0);
    for (std::uint32_t rank = 0; rank < 23; ++rank) ASSERT_EQ(m.result(rank, 0), *first) << "seed " << seed;
  }
}

TEST(collective_engine, reductions_scans_and_gathers_keep_the_order_of_the_ranks_on_every_size) {
  using enum collective_kind;
  const auto gathered = [](std::uint32_t size) {
    bytes all;
    for (std::uint32_t r = 0; r < size; ++r) detail::append_part(all, bytes_of(r));
    return all;
  };
  for (std::uint32_t size = 1; size <= 18; ++size) {
    const std::uint32_t ranks = size == 18 ? 100 : size;
    const rank_id root{ranks * 2 / 3};
    shuffled_machine::program calls;
    for (const collective_kind kind : {reduce, all_reduce, gather, all_gather, scan, exclusive_scan}) {
      calls.emplace_back([=](rank_id self) { return spell(kind, self, root); });
    }
    shuffled_machine m(ranks, 1 + size % 6, size);
    m.run(calls, 1 + size % 4);
    ASSERT_TRUE(m.complete(6)) << ranks;
    ASSERT_FALSE(m.left_before_all_entered);
    ASSERT_FALSE(m.refused);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      const bool root_here = rank == root.value();
      ASSERT_EQ(m.result(rank, 0), root_here ? spelt(0, ranks) : bytes()) << ranks << " ranks, rank " << rank;
      ASSERT_EQ(m.result(rank, 1), spelt(0, ranks));
      ASSERT_EQ(m.result(rank, 2), root_here ? gathered(ranks) : bytes());
      ASSERT_EQ(m.result(rank, 3), gathered(ranks));
      ASSERT_EQ(m.result(rank, 4), spelt(0, rank + 1)) << ranks << " ranks, rank " << rank;
      ASSERT_EQ(m.result(rank, 5), spelt(0, rank));
    }
  }
}

TEST(collective_engine, ten_thousand_ranks_send_few_messages_each_in_few_steps) {
  using enum collective_kind;
  constexpr std::uint32_t ranks = 10'000, arity = 4, levels = 8;  // 10,000 -> 2,500 -> 625 -> 156 -> 39 -> 10 -> 3 -> 1
  const auto sum = [](collective_kind kind) {
    return [kind](rank_id self) {
      collective_call call = sum_of(self.value());
      call.kind = kind;
      return call;
    };
  };
  for (const collective_kind kind : {all_reduce, scan, barrier}) {
    shuffled_machine m(ranks, arity, 5);
    m.run_once(sum(kind));
    ASSERT_TRUE(m.complete(1));
    EXPECT_LE(m.most_sent(), arity + 1);
    EXPECT_LE(m.steps(), 2 * levels);
    if (kind == barrier) continue;
    EXPECT_EQ(value_of<double>(m.result(ranks - 1, 0)), ranks * (ranks - 1.0) / 2);
    EXPECT_EQ(value_of<double>(m.result(99, 0)), kind == scan ? 99 * 100 / 2.0 : ranks * (ranks - 1.0) / 2);
  }
}

}  // namespace
}  // namespace nacre
