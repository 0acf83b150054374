// SPDX-License-Identifier: Apache-2.0
// A thief and a victim with lifelines, each against a scripted host.
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

enum class lifeline_kind : std::uint8_t { request, nothing, given, lifeline, fulfilled, cancelled };

std::vector<std::byte> bytes_of(lifeline_kind kind, std::uint32_t number = 0, std::uint32_t objects = 0) {
  return pack(kind, number, std::uint32_t{0}, std::uint32_t{0}, objects);
}
std::vector<std::byte> request_of(std::uint32_t thief, std::uint32_t number, std::uint32_t hops) {
  return pack(lifeline_kind::request, number, thief, hops, std::uint32_t{0});
}

/// A rank without work among eleven.
struct idle_rank {
  idle_rank() {
    host.self = rank_id{6};
    host.ranks = 11;
    host.idle = 1;
  }
  /// The receivers of the last messages, as many as asked for, which must all have this content.
  std::set<rank_id> receivers(std::size_t count, lifeline_kind kind) {
    std::set<rank_id> ranks;
    for (std::size_t n = host.sent.size() - count; n < host.sent.size(); ++n) {
      EXPECT_EQ(host.sent[n].second, bytes_of(kind));
      ranks.insert(host.sent[n].first);
    }
    return ranks;
  }
  scripted_host host;
  lifeline_balancer thief{{.attempts = 3}};
};

TEST(lifeline_balancer, sends_one_request_round_and_then_lays_a_lifeline_along_every_edge_of_the_cube_once) {
  idle_rank one;
  one.thief.on_tick(one.host);
  one.thief.on_tick(one.host);
  ASSERT_EQ(one.host.sent.size(), 1u) << "its request is still open";
  EXPECT_EQ(one.host.sent.back().second, request_of(6, 1, 3));
  one.thief.on_message(one.host, rank_id{3}, bytes_of(lifeline_kind::nothing, 2));
  EXPECT_EQ(one.host.sent.size(), 1u) << "that is no answer to it";
  one.thief.on_message(one.host, rank_id{3}, bytes_of(lifeline_kind::nothing, 1));
  ASSERT_EQ(one.host.sent.size(), 4u);
  EXPECT_EQ(one.receivers(3, lifeline_kind::lifeline), (std::set{rank_id{7}, rank_id{4}, rank_id{2}}))
      << "14 is not there";
  for (one.host.time = 1; one.host.time < 100; one.host.time += 1) one.thief.on_tick(one.host);
  EXPECT_EQ(one.host.sent.size(), 4u) << "silence";
}

TEST(lifeline_balancer, wants_what_it_works_on_to_be_split_after_a_request_in_vain_until_something_waits) {
  idle_rank one;
  one.host.idle = 0;
  one.host.time = 1;
  EXPECT_FALSE(one.thief.wanted());
  one.thief.on_message(one.host, rank_id{3}, request_of(3, 1, 3));
  EXPECT_TRUE(one.thief.wanted());
  one.thief.on_tick(one.host);
  EXPECT_TRUE(one.thief.wanted()) << "nothing waits yet";
  one.host.objects = {object(1, 1, 1)};
  one.thief.on_tick(one.host);
  EXPECT_FALSE(one.thief.wanted());
  EXPECT_TRUE(one.host.moved.empty()) << "who asked has been passed on";
}

TEST(lifeline_balancer, wants_nothing_split_for_long_that_does_not_and_nothing_while_it_is_idle) {
  idle_rank one;
  one.host.time = 1;
  one.thief.on_message(one.host, rank_id{3}, request_of(3, 1, 3));
  EXPECT_FALSE(one.thief.wanted()) << "it has no work";
  one.host.idle = 0;
  one.thief.on_message(one.host, rank_id{3}, request_of(3, 2, 3));
  EXPECT_TRUE(one.thief.wanted());
  one.host.time += 1;
  one.thief.on_tick(one.host);
  EXPECT_FALSE(one.thief.wanted());
}

TEST(lifeline_balancer, rests_while_its_lifelines_lie_and_nothing_has_come) {
  idle_rank one;
  EXPECT_FALSE(one.thief.rests());
  one.thief.on_tick(one.host);
  EXPECT_FALSE(one.thief.rests()) << "it awaits an answer";
  one.thief.on_message(one.host, rank_id{3}, bytes_of(lifeline_kind::nothing, 1));
  EXPECT_TRUE(one.thief.rests());
  one.thief.on_tick(one.host);
  EXPECT_TRUE(one.thief.rests());
  one.thief.on_message(one.host, rank_id{4}, bytes_of(lifeline_kind::fulfilled, 0, 2));
  EXPECT_FALSE(one.thief.rests()) << "what was promised may not come";
}

TEST(lifeline_balancer, takes_in_its_lifelines_when_it_has_got_work) {
  idle_rank one;
  one.thief.on_tick(one.host);
  one.thief.on_message(one.host, rank_id{3}, bytes_of(lifeline_kind::nothing, 1));
  one.thief.on_message(one.host, rank_id{3}, bytes_of(lifeline_kind::fulfilled, 0, 1));
  one.thief.on_message(one.host, rank_id{4}, bytes_of(lifeline_kind::fulfilled, 0, 2));
  EXPECT_EQ(one.host.sent.size(), 4u);
  one.host.objects = {object(1, 1, 1), object(2, 1, 1)};
  one.host.arrived = 2;
  one.thief.on_tick(one.host);
  ASSERT_EQ(one.host.sent.size(), 6u);
  EXPECT_EQ(one.receivers(2, lifeline_kind::cancelled), (std::set{rank_id{7}, rank_id{2}}));
}

TEST(lifeline_balancer, asks_again_as_soon_as_what_was_promised_has_come_and_gone) {
  idle_rank one;
  one.thief.on_tick(one.host);
  one.thief.on_message(one.host, rank_id{3}, bytes_of(lifeline_kind::given, 1, 2));
  one.thief.on_tick(one.host);
  one.host.arrived = 1;
  one.thief.on_tick(one.host);
  EXPECT_EQ(one.host.sent.size(), 1u) << "an object is on its way";
  one.host.arrived = 2;
  one.thief.on_tick(one.host);
  EXPECT_EQ(one.host.sent.size(), 2u);
  one.thief.on_message(one.host, rank_id{3}, bytes_of(lifeline_kind::given, 2, 1));
  one.thief.on_tick(one.host);
  EXPECT_EQ(one.host.sent.size(), 2u);
  one.host.time = 1;
  one.thief.on_tick(one.host);
  EXPECT_EQ(one.host.sent.size(), 3u) << "what has not come by now will not come";
}

TEST(lifeline_balancer, waits_for_what_was_promised_whatever_else_has_come) {
  idle_rank one;
  one.host.arrived = 7;  // moved by the program
  one.thief.on_tick(one.host);
  one.thief.on_message(one.host, rank_id{3}, bytes_of(lifeline_kind::given, 1, 2));
  one.thief.on_tick(one.host);
  EXPECT_EQ(one.host.sent.size(), 1u) << "two are on their way";
  one.host.arrived = 9;
  one.thief.on_tick(one.host);
  ASSERT_EQ(one.host.sent.size(), 2u);
  one.thief.on_message(one.host, rank_id{3}, bytes_of(lifeline_kind::nothing, 2));
  EXPECT_EQ(one.receivers(3, lifeline_kind::lifeline).size(), 3u);
  one.thief.on_message(one.host, rank_id{7}, bytes_of(lifeline_kind::fulfilled, 0, 2));
  one.thief.on_tick(one.host);
  EXPECT_EQ(one.host.sent.size(), 5u) << "likewise";
}

TEST(lifeline_balancer, waits_for_no_more_than_the_latest_promise_after_an_earlier_one_has_not_been_kept) {
  idle_rank one;
  one.thief.on_tick(one.host);
  one.thief.on_message(one.host, rank_id{3}, bytes_of(lifeline_kind::given, 1, 5));
  one.host.time = 1;
  one.thief.on_tick(one.host);
  ASSERT_EQ(one.host.sent.size(), 2u) << "those five will not come";
  one.thief.on_message(one.host, rank_id{3}, bytes_of(lifeline_kind::given, 2, 1));
  one.thief.on_tick(one.host);
  EXPECT_EQ(one.host.sent.size(), 2u) << "an object is on its way";
  one.host.arrived = 1;
  one.thief.on_tick(one.host);
  EXPECT_EQ(one.host.sent.size(), 3u);
}

TEST(lifeline_balancer, asks_who_gave_a_whole_bag_again_until_that_one_has_nothing) {
  idle_rank one;
  constexpr rank_id rich{4};
  std::uint32_t number = 0;
  const auto asked = [&] {
    one.thief.on_tick(one.host);
    EXPECT_EQ(one.host.sent.back().second, request_of(6, ++number, 3));
    return one.host.sent.back().first;
  };
  const auto give = [&](lifeline_kind kind, std::uint32_t objects) {
    one.host.arrived += objects;
    one.thief.on_message(one.host, rich, bytes_of(kind, kind == lifeline_kind::given ? number : 0, objects));
  };
  static_cast<void>(asked());
  for (int times = 0; times < 8; ++times) {
    give(lifeline_kind::given, 16);
    EXPECT_EQ(asked(), rich);
  }
  one.thief.on_message(one.host, rich, bytes_of(lifeline_kind::nothing, number));
  give(lifeline_kind::fulfilled, 1);
  std::set<rank_id> others;
  for (int times = 0; times < 20; ++times) {
    others.insert(asked());
    give(lifeline_kind::given, 1);
  }
  EXPECT_GT(others.size(), 1u);
}

TEST(lifeline_balancer, a_victim_deals_to_the_lifelines_that_lie_there_as_soon_as_it_has_surplus) {
  scripted_host host;
  lifeline_balancer victim({});
  for (const std::uint32_t source : {4u, 8u, 16u, 4u, 5u}) {
    victim.on_message(host, rank_id{source}, bytes_of(lifeline_kind::lifeline));
  }
  victim.on_message(host, rank_id{16}, bytes_of(lifeline_kind::cancelled));
  EXPECT_TRUE(victim.wanted());
  EXPECT_TRUE(host.sent.empty());
  host.objects = {object(1, 1, 1), object(2, 5, 1), object(3, 3, 1), object(4, 2, 1)};
  victim.on_tick(host);
  EXPECT_EQ(host.moved, (std::vector<std::uint64_t>{2, 3, 1})) << "the third object is its own";
  EXPECT_EQ(host.moved_to, (std::vector{rank_id{4}, rank_id{8}, rank_id{4}})) << "5 is no neighbour";
  EXPECT_EQ(host.sent, (std::vector<std::pair<rank_id, std::vector<std::byte>>>{
                           {rank_id{4}, bytes_of(lifeline_kind::fulfilled, 0, 2)},
                           {rank_id{8}, bytes_of(lifeline_kind::fulfilled, 0, 1)}}));
  EXPECT_FALSE(victim.wanted());
}

TEST(lifeline_balancer, a_request_is_answered_or_passed_on_at_once) {
  scripted_host host;
  lifeline_balancer victim({});
  victim.on_message(host, rank_id{9}, request_of(9, 4, 2));
  ASSERT_EQ(host.sent.size(), 1u);
  EXPECT_NE(host.sent.back().first, rank_id{9});
  EXPECT_EQ(host.sent.back().second, request_of(9, 4, 1));
  victim.on_message(host, rank_id{7}, request_of(9, 4, 1));
  EXPECT_EQ(host.sent.back(), std::pair(rank_id{9}, bytes_of(lifeline_kind::nothing, 4)));
  host.objects = {object(1, 1, 1), object(2, 1, 1), object(3, 1, 1)};
  victim.on_message(host, rank_id{7}, request_of(9, 5, 3));
  EXPECT_EQ(host.sent.back(), std::pair(rank_id{9}, bytes_of(lifeline_kind::given, 5, 2)));
  EXPECT_EQ(host.moved, (std::vector<std::uint64_t>{1, 3}));
  EXPECT_EQ(host.moved_to, (std::vector{rank_id{9}, rank_id{9}}));
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
