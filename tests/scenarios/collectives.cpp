// SPDX-License-Identifier: Apache-2.0
// Collectives: their results, for values of every length, beside those of one loop.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scenarios.hpp"

namespace nacre::tests {
namespace {

std::string joined(std::uint32_t begin, std::uint32_t end) {
  std::string all;
  for (; begin < end; ++begin) all += "<" + std::to_string(begin) + ">";
  return all;
}

using numbers = std::vector<std::uint64_t>;

/// Values of half a megabyte.
void large_values(runtime& rt, std::uint64_t) {
  const numbers mine(60'000, rt.rank().value());
  const rank_id root(rt.size() - 1);
  const auto all = rt.gather(mine, root);
  for (std::size_t r = 0; r < all.size(); ++r) ASSERT_EQ(all[r], numbers(60'000, r));
  ASSERT_EQ(rt.broadcast(mine, root), numbers(60'000, root.value()));
  const auto add = [](numbers a, const numbers& b) {
    for (std::size_t index = 0; index < a.size(); ++index) a[index] += b[index];
    return a;
  };
  ASSERT_EQ(rt.all_reduce(mine, add), numbers(60'000, rt.size() * (rt.size() - 1) / 2));
}

/// Packs to no bytes at all.
struct nothing {
  template <class Archive>
  void serialize(Archive&) {}
};

/// What has no bytes is a value nevertheless: it is counted, combined and carried as others are.
void values_without_bytes(runtime& rt, std::uint64_t) {
  std::uint64_t combined = 0;
  const auto count = [&](nothing, nothing) {
    ++combined;
    return nothing{};
  };
  const rank_id root(rt.size() - 1);
  EXPECT_EQ(rt.reduce(nothing{}, count, root).has_value(), rt.rank() == root);
  static_cast<void>(rt.all_reduce(nothing{}, count));
  const std::uint64_t expected = 2 * (rt.size() - 1);
  EXPECT_EQ(rt.all_reduce(combined, std::plus<>{}), expected) << "values without bytes were left out of reductions";
  combined = 0;
  static_cast<void>(rt.scan(nothing{}, count));
  static_cast<void>(rt.exclusive_scan(nothing{}, nothing{}, count));
  EXPECT_GE(rt.all_reduce(combined, std::plus<>{}), expected) << "values without bytes were left out of scans";
  EXPECT_EQ(rt.gather(nothing{}, root).size(), rt.rank() == root ? rt.size() : 0);
  EXPECT_EQ(rt.all_gather(nothing{}).size(), rt.size()) << "values without bytes were left out of a gathering";
  static_cast<void>(rt.broadcast(nothing{}, root));
  // Some have bytes and others none: the places must be kept.
  const numbers mine(rt.rank().value() % 2 == 0 ? 0 : 3, rt.rank().value());
  const auto all = rt.all_gather(mine);
  for (std::uint32_t r = 0; r < rt.size(); ++r) EXPECT_EQ(all[r], numbers(r % 2 == 0 ? 0 : 3, r)) << "of rank " << r;
  EXPECT_EQ(rt.broadcast(rt.rank() == root ? std::string() : std::string("not this"), root), "");
}

void wrong_root(runtime& rt, std::uint64_t) {
  EXPECT_THROW(static_cast<void>(rt.gather(1, rank_id(rt.size()))), usage_error);
}

constexpr std::array collectives_table{
    scenario{"collectives_combine_in_the_order_of_the_ranks", all_collectives},
    scenario{"collectives_carry_large_values", large_values},
    scenario{"collectives_carry_values_without_bytes", values_without_bytes},
    scenario{"a_root_that_is_no_rank_is_refused", wrong_root},
};

}  // namespace

void all_collectives(runtime& rt, std::uint64_t) {
  const std::string mine = joined(rt.rank().value(), rt.rank().value() + 1), every = joined(0, rt.size());
  for (std::uint32_t round = 0; round < 3; ++round) {
    const rank_id root(round * 5 % rt.size());
    const std::optional<std::string> sum = rt.reduce(mine, std::plus<>{}, root);
    ASSERT_EQ(sum.has_value(), rt.rank() == root);
    ASSERT_EQ(sum.value_or(every), every);
    ASSERT_EQ(rt.all_reduce(mine, std::plus<>{}), every);
    ASSERT_EQ(rt.scan(mine, std::plus<>{}), joined(0, rt.rank().value() + 1));
    ASSERT_EQ(rt.exclusive_scan(mine, std::string("!"), std::plus<>{}), "!" + joined(0, rt.rank().value()));
    const std::vector<std::string> at_root = rt.gather(mine, root), words = rt.all_gather(mine);
    ASSERT_EQ(at_root.size(), rt.rank() == root ? rt.size() : 0);
    ASSERT_EQ(words.size(), rt.size());
    for (std::uint32_t r = 0; r < rt.size(); ++r) ASSERT_EQ(words[r], joined(r, r + 1));
    ASSERT_TRUE(at_root.empty() || at_root == words);
    ASSERT_EQ(rt.broadcast(rt.rank() == root ? every : std::string(), root), every);
    ASSERT_EQ(rt.all_reduce(rt.rank().value() + round, std::plus<>{}),
              rt.size() * (rt.size() - 1) / 2 + rt.size() * round);
    rt.barrier();
  }
}

std::span<const scenario> collective_scenarios() { return collectives_table; }

}  // namespace nacre::tests
