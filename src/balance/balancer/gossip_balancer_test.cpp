// SPDX-License-Identifier: Apache-2.0
// A rank that gossips, against a scripted host.
#include "balance/balancer/gossip_balancer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <vector>

#include <nacre/archive.hpp>

#include "balance/balancer/balancer_test_cluster.hpp"
#include "balance/balancer/balancer_test_host.hpp"

namespace nacre::balance {
namespace {

using news = std::tuple<std::uint32_t, std::uint32_t, double, std::uint32_t>;  // rank, version, load, rounds
std::vector<std::byte> bytes_of(const std::vector<news>& items) { return pack(items); }

std::vector<news> last_sent(const scripted_host& host) { return *unpack<std::vector<news>>(host.sent.back().second); }

TEST(gossip_balancer, an_idle_rank_speaks_of_itself_ever_more_rarely_and_a_busy_one_never) {
  scripted_host host;
  host.self = rank_id{5};
  gossip_balancer one({.fanout = 3, .rounds = 4, .gossip_interval = {1e-3, 8e-3}});
  one.on_tick(host);
  EXPECT_TRUE(host.sent.empty());
  host.idle = 1;
  std::vector<double> times;
  for (host.time = 1; host.time < 1.2; host.time += 0.1e-3) {
    const std::size_t previous = host.sent.size();
    one.on_tick(host);
    if (host.sent.size() == previous) continue;
    times.push_back(host.time);
    EXPECT_EQ(host.sent.size() - previous, 3u) << "to three";
    EXPECT_EQ(last_sent(host), (std::vector{news{5, static_cast<std::uint32_t>(times.size()), 0.0, 4}}));
  }
  ASSERT_GT(times.size(), 20u);
  EXPECT_LE(times[1] - times[0], 1.2e-3);
  EXPECT_GE(times.back() - times[times.size() - 2], 3.9e-3);
  EXPECT_LE(times.size(), 55u);
}

TEST(gossip_balancer, news_are_passed_on_as_often_as_they_say_and_old_ones_not) {
  scripted_host host;
  gossip_balancer one({});
  one.on_message(host, rank_id{9}, bytes_of({{7, 3, 1.0, 2}, {8, 1, 1.0, 0}, {0, 1, 1.0, 5}, {100, 1, 1.0, 5}}));
  one.on_tick(host);
  EXPECT_EQ(last_sent(host), (std::vector{news{7, 3, 1.0, 1}}))
      << "8 is passed on no more, 0 is oneself, 100 does not exist";
  const std::size_t previous = host.sent.size();
  host.time = 1e-3;
  one.on_message(host, rank_id{9}, bytes_of({{7, 3, 2.0, 5}, {7, 2, 2.0, 5}}));
  one.on_tick(host);
  EXPECT_EQ(host.sent.size(), previous);
  one.on_message(host, rank_id{9}, bytes_of({{7, 4, 2.0, 4'000'000'000}}));
  one.on_tick(host);
  EXPECT_EQ(last_sent(host), (std::vector{news{7, 4, 2.0, 31}})) << "rounds have a bound";
}

TEST(gossip_balancer, gives_to_a_rank_only_what_leaves_it_with_less_and_once_for_each_news) {
  scripted_host host;
  gossip_balancer one({});
  host.objects = {object(1, 9, 1, true), object(2, 6, 1), object(3, 2, 1)};
  one.on_message(host, rank_id{9}, bytes_of({{7, 1, 12.0, 0}}));
  EXPECT_TRUE(one.wanted());
  one.on_tick(host);
  EXPECT_EQ(host.moved, (std::vector<std::uint64_t>{3})) << "12 + 6 is more than 17, 12 + 2 is not";
  EXPECT_FALSE(one.wanted());
  one.on_tick(host);
  EXPECT_EQ(host.moved.size(), 1u) << "that was all for this version";
  one.on_message(host, rank_id{9}, bytes_of({{7, 2, std::nan(""), 0}}));
  one.on_tick(host);
  EXPECT_EQ(host.moved.size(), 3u) << "a load that is no number counts as none";
}

TEST(gossip_balancer, of_a_large_bag_an_eighth_of_a_ranks_part_is_given_at_a_time) {
  scripted_host host;
  host.ranks = 2;
  for (std::uint64_t index = 1; index <= 640; ++index) host.objects.push_back(object(index, 1, 1));
  gossip_balancer one({});
  one.on_message(host, rank_id{1}, bytes_of({{1, 1, 0.0, 0}}));
  one.on_tick(host);
  EXPECT_EQ(host.moved.size(), 40u);
}

TEST(gossip_balancer, prefers_ranks_with_less_and_forgets_old_news) {
  int to_the_empty_one = 0;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    scripted_host host;
    host.stream = rng(seed);
    gossip_balancer one({});
    one.on_message(host, rank_id{9}, bytes_of({{7, 1, 0.0, 0}, {8, 1, 7.5, 0}}));
    host.objects = {object(1, 9, 1, true), object(2, 1, 1)};
    one.on_tick(host);
    ASSERT_EQ(host.moved_to.size(), 1u);
    to_the_empty_one += host.moved_to[0] == rank_id{7} ? 1 : 0;
  }
  EXPECT_NEAR(to_the_empty_one, 800, 60) << "10 of 12.5";
  scripted_host host;
  gossip_balancer one({.gossip_interval = {1e-3, 8e-3}});
  one.on_message(host, rank_id{9}, bytes_of({{7, 1, 0.0, 0}}));
  host.time = 17e-3;
  host.objects = {object(1, 9, 1, true), object(2, 1, 1)};
  one.on_tick(host);
  EXPECT_TRUE(host.moved.empty());
}

TEST(gossip_balancer, remembers_a_bounded_number_of_ranks) {
  scripted_host host;
  host.ranks = 10'000;
  gossip_balancer one({.known_max = 8});
  std::vector<news> many;
  for (std::uint32_t rank = 1; rank < 10'000; ++rank) many.push_back({rank, 1, 0.0, 1});
  one.on_message(host, rank_id{9}, bytes_of(many));
  one.on_tick(host);
  EXPECT_EQ(last_sent(host).size(), 8u);
}

TEST(gossip_balancer, work_reaches_all_of_many_ranks) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    cluster all({.seed = seed, .ranks = 32, .make = [] {
                   return std::make_unique<gossip_balancer>(gossip_balancer::options{});
                 }});
    for (int n = 0; n < 320; ++n) all.add(17, 5e-3);
    all.run(1);
    EXPECT_LE(all.now(), 1.5 * 320 * 5e-3 / 32) << "seed " << seed;
  }
}

}  // namespace
}  // namespace nacre::balance
