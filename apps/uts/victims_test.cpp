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

}  // namespace
}  // namespace uts
