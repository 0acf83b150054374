// SPDX-License-Identifier: Apache-2.0
// Thieves ask whom they are to ask.
#include "victims.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <vector>

namespace uts {
namespace {

using nacre::rank_id;

TEST(victims, are_any_other_ranks_where_hosts_do_not_matter) {
  const std::vector<std::uint64_t> alone{1, 2, 3, 4}, together{9, 9, 9, 9};
  for (const auto& hosts : {std::vector<std::uint64_t>(), alone, together}) {
    nacre::rng random(3);
    victims all(rank_id{2}, 4, hosts.empty() ? 0 : 5, hosts);
    std::map<std::uint32_t, int> asked;
    for (int request = 0; request < 300; ++request) ++asked[all.next(random).value()];
    EXPECT_EQ(asked.size(), 3u);
    EXPECT_EQ(asked.count(2), 0u) << "not itself";
    for (const auto& [rank, count] : asked) EXPECT_GT(count, 60) << rank;
  }
}

TEST(victims, are_of_the_own_host_first_and_after_work_again) {
  nacre::rng random(3);
  victims mine(rank_id{1}, 6, 2, {7, 7, 7, 8, 8, 8});
  const auto is_near = [&] { return mine.next(random).value() < 3; };
  for (int round = 0; round < 50; ++round) {
    EXPECT_TRUE(is_near());
    EXPECT_TRUE(is_near());
    EXPECT_FALSE(is_near());
  }
  EXPECT_TRUE(is_near());
  mine.restart();
  EXPECT_TRUE(is_near());
  EXPECT_TRUE(is_near()) << "the row began again";
  EXPECT_FALSE(is_near());
  EXPECT_TRUE(mine.is_near(rank_id{0}));
  EXPECT_FALSE(mine.is_near(rank_id{3}));
}

/// The choice by tables of all ranks.
TEST(victims, are_drawn_as_from_a_list_of_neighbours_and_one_of_strangers) {
  nacre::rng shape(11);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::uint64_t> hosts(2 + shape.below(20));
    for (std::uint64_t& each : hosts) each = shape.below(3);
    const auto self = static_cast<std::uint32_t>(shape.below(hosts.size()));
    std::vector<std::uint32_t> near, far;
    for (std::uint32_t rank = 0; rank < hosts.size(); ++rank) {
      if (rank != self) (hosts[rank] == hosts[self] ? near : far).push_back(rank);
    }
    if (near.empty() || far.empty()) continue;
    victims mine(rank_id{self}, static_cast<std::uint32_t>(hosts.size()), 1, hosts);
    nacre::rng random(5), expected(5);
    for (int request = 0; request < 20; ++request) {
      const std::vector<std::uint32_t>& choice = request % 2 == 0 ? near : far;
      const std::uint32_t victim = mine.next(random).value();
      EXPECT_EQ(victim, choice[expected.below(choice.size())]);
      EXPECT_EQ(mine.is_near(rank_id{victim}), request % 2 == 0);
    }
  }
}

}  // namespace
}  // namespace uts
