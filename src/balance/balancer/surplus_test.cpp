// SPDX-License-Identifier: Apache-2.0
// The surplus of a rank: neither objects that its own workers take, nor objects that are not worth moving.
#include "balance/balancer/surplus.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include <nacre/rng.hpp>

#include "balance/balancer/balancer_test_host.hpp"

namespace nacre::balance {
namespace {

TEST(surplus, is_what_idle_workers_leave_of_the_objects_that_are_worth_moving) {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    rng random(seed);
    scripted_host host;
    host.idle = static_cast<std::uint32_t>(random.below(5));
    std::size_t waiting = 0;
    std::vector<double> worthy;
    for (std::uint64_t index = 1; index <= random.below(9); ++index) {
      object_load each =
          object(index, random.uniform(), static_cast<std::uint32_t>(random.below(2)), random.below(4) == 0);
      each.seconds = random.below(3) == 0 ? 0 : random.uniform();  // 0: it has not been measured
      each.migration_cost = random.below(2) == 0 ? 0.125 : 0;
      host.objects.push_back(each);
      if (each.running || each.messages == 0) continue;
      ++waiting;
      if (each.seconds == 0 || each.seconds >= 4 * each.migration_cost) worthy.push_back(each.load);
    }
    surplus surplus_load;
    surplus_load.look(host);
    EXPECT_EQ(surplus_load.needy(), waiting < host.idle) << "seed " << seed;
    // Idle workers take first the work that cannot leave.
    const std::size_t staying = waiting - worthy.size();
    const std::size_t wanted = host.idle > staying ? host.idle - staying : 0;
    EXPECT_EQ(surplus_load.spare(host), worthy.size() > wanted ? worthy.size() - wanted : 0) << "seed " << seed;
    std::sort(worthy.rbegin(), worthy.rend());
    const auto heaviest = surplus_load.heaviest(host, 100);
    ASSERT_EQ(heaviest.size(), surplus_load.spare(host));
    for (std::size_t n = 0; n < heaviest.size(); ++n) EXPECT_EQ(heaviest[n].load, worthy[n]) << "seed " << seed;
  }
}

TEST(surplus, of_more_objects_than_are_looked_at_is_estimated_from_those) {
  for (const std::size_t waiting : {15u, 16u, 17u, 1000u}) {
    scripted_host host;
    for (std::uint64_t index = 1; index <= waiting; ++index) host.objects.push_back(object(index, 1, 1));
    surplus surplus_load;
    surplus_load.look(host);
    EXPECT_EQ(surplus_load.spare(host), waiting) << "all are worth moving";
  }
}

TEST(surplus, of_a_large_bag_more_is_given_at_a_time_yet_at_most_an_eighth_of_a_ranks_part) {
  scripted_host host;
  host.ranks = 4;
  const auto at_a_time = [&](std::uint64_t waiting, std::size_t least) {
    host.objects.clear();
    for (std::uint64_t index = 1; index <= waiting; ++index) host.objects.push_back(object(index, 1, 1));
    surplus surplus_load;
    surplus_load.look(host);
    return surplus_load.at_a_time(host, least);
  };
  EXPECT_EQ(at_a_time(0, 1), 1u);
  EXPECT_EQ(at_a_time(63, 1), 1u);
  EXPECT_EQ(at_a_time(63, 5), 5u);
  EXPECT_EQ(at_a_time(320, 5), 10u);
  EXPECT_EQ(at_a_time(100'000, 1), 128u);
  EXPECT_EQ(at_a_time(100'000, 300), 300u);
}

TEST(surplus, objects_that_turn_out_to_be_too_large_count_for_nobody) {
  const std::vector<rank_id> line{rank_id{7}, rank_id{9}};
  scripted_host host;
  for (std::uint64_t index = 1; index <= 9; ++index) {
    host.objects.push_back(object(index, 100 - static_cast<double>(index), 1));
  }
  host.too_large = {1};
  surplus surplus_load;
  EXPECT_EQ(surplus_load.distribute(host, line, 4), line.size());
  EXPECT_EQ(host.moved, (std::vector<std::uint64_t>{2, 3, 5, 6, 8, 9}));
  EXPECT_EQ(surplus_load.given_to(0), 3u);
  EXPECT_EQ(surplus_load.given_to(1), 3u);
  for (const object_load& each : host.objects) host.too_large.insert(each.object.index());
  EXPECT_EQ(surplus_load.distribute(host, line, 4), 0u);
}

TEST(surplus, is_distributed_to_the_own_rank_too_unless_twice_as_much_waits_as_the_line_can_get) {
  const std::vector<rank_id> line{rank_id{7}, rank_id{9}};
  scripted_host host;
  const auto given = [&](std::uint64_t waiting) {
    host.moved.clear();
    host.objects.clear();
    for (std::uint64_t index = 1; index <= waiting; ++index) {
      host.objects.push_back(object(index, 100 - static_cast<double>(index), 1));
    }
    surplus surplus_load;
    EXPECT_EQ(surplus_load.distribute(host, line, 4), line.size());
    EXPECT_EQ(surplus_load.given_to(0) + surplus_load.given_to(1), host.moved.size());
    return host.moved;
  };
  EXPECT_EQ(given(9), (std::vector<std::uint64_t>{1, 2, 4, 5, 7, 8}));
  EXPECT_EQ(given(15), (std::vector<std::uint64_t>{1, 2, 4, 5, 7, 8, 10, 11}));
  EXPECT_EQ(given(16), (std::vector<std::uint64_t>{1, 2, 3, 4, 5, 6, 7, 8})) << "it keeps as many as it gives";
}

}  // namespace
}  // namespace nacre::balance
