// SPDX-License-Identifier: Apache-2.0
// The victims that a thief asks, and the order in which a victim serves thieves, when hosts are known.
#include "balance/balancer/hierarchical_balancer.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <set>
#include <vector>

#include <nacre/archive.hpp>

#include "balance/balancer/balancer_test_host.hpp"

namespace nacre::balance {
namespace {

enum class hierarchical_kind : std::uint8_t { request, nothing, given };
std::vector<std::byte> bytes_of(hierarchical_kind kind, std::uint32_t number, double patience = 0) {
  return pack(kind, number, patience);
}

/// The ranks that a thief asks, one after the other, while every request fails.
std::vector<std::uint32_t> asked(rank_id self, std::uint32_t ranks, hierarchical_balancer::grouping grouping,
                                 int requests) {
  scripted_host host;
  host.self = self;
  host.ranks = ranks;
  host.idle = 1;
  hierarchical_balancer thief({}, grouping);
  std::vector<std::uint32_t> all;
  for (std::uint32_t request = 1; all.size() < static_cast<std::size_t>(requests); ++request) {
    host.time += 1;
    thief.on_tick(host);
    all.push_back(host.sent.back().first.value());
    thief.on_message(host, host.sent.back().first, bytes_of(hierarchical_kind::nothing, request));
  }
  return all;
}

TEST(hierarchical_balancer, asks_near_ranks_before_a_far_one) {
  const std::vector<std::uint32_t> all = asked(rank_id{9}, 14, {.group = 4, .inside = 2}, 3000);
  std::set<std::uint32_t> near, far;
  for (std::size_t n = 0; n < all.size(); ++n) (n % 3 == 2 ? far : near).insert(all[n]);
  EXPECT_EQ(near, (std::set<std::uint32_t>{8, 10, 11}));
  EXPECT_EQ(far, (std::set<std::uint32_t>{0, 1, 2, 3, 4, 5, 6, 7, 12, 13}));
}

TEST(hierarchical_balancer, asks_everybody_where_there_is_only_near_or_only_far) {
  for (const std::uint32_t group : {1u, 7u, 100u, 0u}) {
    const std::vector<std::uint32_t> all = asked(rank_id{3}, 7, {.group = group, .inside = 2}, 1000);
    EXPECT_EQ(std::set<std::uint32_t>(all.begin(), all.end()), (std::set<std::uint32_t>{0, 1, 2, 4, 5, 6})) << group;
  }
  const std::vector<std::uint32_t> last = asked(rank_id{6}, 7, {.group = 3, .inside = 5}, 100);
  EXPECT_EQ(std::set<std::uint32_t>(last.begin(), last.end()), (std::set<std::uint32_t>{0, 1, 2, 3, 4, 5}))
      << "it is alone in its group";
}

TEST(hierarchical_balancer, serves_its_neighbours_first) {
  scripted_host host;
  host.ranks = 14;
  hierarchical_balancer victim({.waiting_max = 8}, {.group = 4, .inside = 2});
  for (const std::uint32_t source : {9u, 2u, 8u, 3u})
    victim.on_message(host, rank_id{source}, bytes_of(hierarchical_kind::request, 1));
  for (std::uint64_t n = 1; n <= 4; ++n) host.objects.push_back(object(n, 1, 1));
  victim.on_tick(host);
  EXPECT_EQ(host.moved_to, (std::vector{rank_id{2}, rank_id{3}, rank_id{9}, rank_id{8}}));
}

}  // namespace
}  // namespace nacre::balance
