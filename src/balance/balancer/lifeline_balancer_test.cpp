// SPDX-License-Identifier: Apache-2.0
// A thief and a victim with lifelines, each against a host that the test plays.
#include "balance/balancer/lifeline_balancer.hpp"

#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

#include <nacre/archive.hpp>

#include "balance/balancer/balancer_test_cluster.hpp"
#include "balance/balancer/balancer_test_host.hpp"

namespace nacre::balance {
namespace {

enum class kind : std::uint8_t { request, nothing, given, lifeline, caught };
std::vector<std::byte> bytes_of(kind what, std::uint32_t number = 0) { return pack(what, number); }

TEST(lifeline_balancer, asks_a_few_and_then_lays_a_lifeline_along_every_edge_of_the_cube_once) {
  scripted_host host;
  host.self = rank_id{6};
  host.ranks = 11;
  host.idle = 1;
  lifeline_balancer thief({.attempts = 3});
  thief.on_tick(host);
  for (std::uint32_t request = 1; request <= 3; ++request) {
    ASSERT_EQ(host.sent.size(), request);
    EXPECT_EQ(host.sent.back().second, bytes_of(kind::request, request));
    const rank_id victim = host.sent.back().first;
    thief.on_message(host, rank_id{victim.value() == 3 ? 4u : 3u}, bytes_of(kind::nothing, request));
    thief.on_message(host, victim, bytes_of(kind::nothing, request + 1));
    thief.on_tick(host);
    ASSERT_EQ(host.sent.size(), request) << "its request is still open";
    thief.on_message(host, victim, bytes_of(kind::nothing, request));
  }
  std::set<rank_id> neighbours;
  for (std::size_t n = 3; n < host.sent.size(); ++n) {
    EXPECT_EQ(host.sent[n].second, bytes_of(kind::lifeline));
    neighbours.insert(host.sent[n].first);
  }
  EXPECT_EQ(neighbours, (std::set{rank_id{7}, rank_id{4}, rank_id{2}})) << "14 is not there";
  for (host.time = 1; host.time < 100; host.time += 1) thief.on_tick(host);
  EXPECT_EQ(host.sent.size(), 6u) << "silence";
  thief.on_message(host, rank_id{3}, bytes_of(kind::caught));
  thief.on_message(host, rank_id{4}, bytes_of(kind::caught));
  for (int request = 0; request < 3; ++request) {
    host.time += 1;
    thief.on_tick(host);
    thief.on_message(host, host.sent.back().first, bytes_of(kind::nothing, 4 + static_cast<std::uint32_t>(request)));
  }
  ASSERT_EQ(host.sent.size(), 10u);
  EXPECT_EQ(host.sent.back(), std::pair(rank_id{4}, bytes_of(kind::lifeline))) << "the others still lie";
}

TEST(lifeline_balancer, a_victim_deals_to_the_lifelines_that_lie_there_as_soon_as_it_has_surplus) {
  scripted_host host;
  lifeline_balancer victim({});
  for (const std::uint32_t from : {4u, 8u, 4u, 5u}) victim.on_message(host, rank_id{from}, bytes_of(kind::lifeline));
  EXPECT_TRUE(victim.wanted());
  EXPECT_TRUE(host.sent.empty());
  host.objects = {object(1, 1, 1), object(2, 5, 1), object(3, 3, 1), object(4, 2, 1)};
  victim.on_tick(host);
  EXPECT_EQ(host.moved, (std::vector<std::uint64_t>{2, 3, 1})) << "the third card is its own";
  EXPECT_EQ(host.moved_to, (std::vector{rank_id{4}, rank_id{8}, rank_id{4}})) << "5 is no neighbour";
  EXPECT_EQ(host.sent, (std::vector<std::pair<rank_id, std::vector<std::byte>>>{{rank_id{4}, bytes_of(kind::caught)},
                                                                                {rank_id{8}, bytes_of(kind::caught)}}));
  EXPECT_FALSE(victim.wanted());
}

TEST(lifeline_balancer, a_request_is_answered_at_once) {
  scripted_host host;
  lifeline_balancer victim({});
  victim.on_message(host, rank_id{9}, bytes_of(kind::request, 4));
  EXPECT_EQ(host.sent.back(), std::pair(rank_id{9}, bytes_of(kind::nothing, 4)));
  EXPECT_FALSE(victim.wanted());
  host.objects = {object(1, 1, 1), object(2, 1, 1), object(3, 1, 1)};
  victim.on_message(host, rank_id{9}, bytes_of(kind::request, 5));
  EXPECT_EQ(host.sent.back(), std::pair(rank_id{9}, bytes_of(kind::given, 5)));
  EXPECT_EQ(host.moved, (std::vector<std::uint64_t>{1, 3}));
}

TEST(lifeline_balancer, work_that_begins_on_a_silent_machine_reaches_ranks_that_are_no_neighbours) {
  for (std::uint32_t start = 0; start < 13; ++start) {
    cluster all({.seed = start + 1, .ranks = 13, .make = [] {
                   return std::make_unique<lifeline_balancer>(lifeline_balancer::options{.attempts = 0});
                 }});
    for (int n = 0; n < 104; ++n) all.add(start, 5e-3);
    all.run(1);
    EXPECT_LE(all.now(), 1.3 * 104 * 5e-3 / 13) << "from rank " << start;
  }
}

}  // namespace
}  // namespace nacre::balance
