// SPDX-License-Identifier: Apache-2.0
// The moves of the balancers for tests, against a scripted host.
#include "balance/testing/rotate_balancer.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "balance/balancer/balancer_test_host.hpp"

namespace nacre::balance {
namespace {

using target = rotate_balancer::target;

TEST(rotate_balancer, moves_what_waits_except_what_idle_workers_are_about_to_take) {
  scripted_host host;
  host.self = rank_id{99};
  host.idle = 1;
  host.objects = {object(1, 3, 1), object(2, 2, 1), object(3, 9, 1, true), object(4, 9, 0), object(5, 1, 1)};
  rotate_balancer one(target::next, 1);
  one.on_tick(host);
  EXPECT_EQ(host.moved, (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(host.moved_to, (std::vector{rank_id{0}, rank_id{0}})) << "round the corner";
  host.time = 0.9;
  one.on_tick(host);
  EXPECT_EQ(host.moved.size(), 2u);
  host.time = 1;
  one.on_tick(host);
  EXPECT_EQ(host.moved.size(), 4u);
  EXPECT_TRUE(host.sent.empty());
}

TEST(rotate_balancer, moves_to_every_other_rank_at_random) {
  scripted_host host;
  host.self = rank_id{2};
  host.ranks = 5;
  for (std::uint64_t n = 1; n <= 200; ++n) host.objects.push_back(object(n, 1, 1));
  rotate_balancer one(target::random, 1);
  one.on_tick(host);
  EXPECT_EQ(std::set(host.moved_to.begin(), host.moved_to.end()),
            (std::set{rank_id{0}, rank_id{1}, rank_id{3}, rank_id{4}}));
}

}  // namespace
}  // namespace nacre::balance
