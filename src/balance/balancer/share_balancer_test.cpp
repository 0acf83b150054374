// SPDX-License-Identifier: Apache-2.0
// A manager and a rank that shares, each against a scripted host.
#include "balance/balancer/share_balancer.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include <nacre/archive.hpp>

#include "balance/balancer/balancer_test_host.hpp"

namespace nacre::balance {
namespace {

enum class share_kind : std::uint8_t { offer, request, order, returned, given };
using letter = std::pair<rank_id, std::vector<std::byte>>;
std::vector<std::byte> bytes_of(share_kind kind, std::uint32_t number, std::uint32_t rank = 0) {
  return pack(kind, number, rank);
}

TEST(share_balancer, the_manager_orders_from_those_with_offers_in_turn_and_keeps_the_rest_in_line) {
  scripted_host host;
  share_balancer manager({});
  const auto hear = [&](std::uint32_t source, share_kind kind, std::uint32_t number, std::uint32_t rank = 0) {
    host.sent.clear();
    manager.on_message(host, rank_id{source}, bytes_of(kind, number, rank));
  };
  hear(4, share_kind::offer, 2);
  hear(6, share_kind::offer, 1);
  hear(7, share_kind::request, 11);
  EXPECT_EQ(host.sent, (std::vector{letter{rank_id{4}, bytes_of(share_kind::order, 11, 7)}}));
  hear(8, share_kind::request, 12);
  EXPECT_EQ(host.sent, (std::vector{letter{rank_id{6}, bytes_of(share_kind::order, 12, 8)}})) << "in turn";
  hear(4, share_kind::request, 13);
  hear(9, share_kind::request, 14);
  EXPECT_TRUE(host.sent.empty()) << "who asks has nothing to give any more";
  hear(6, share_kind::returned, 12, 8);
  hear(5, share_kind::offer, 9);
  EXPECT_EQ(host.sent, (std::vector{letter{rank_id{5}, bytes_of(share_kind::order, 12, 8)},
                                    letter{rank_id{5}, bytes_of(share_kind::order, 13, 4)},
                                    letter{rank_id{5}, bytes_of(share_kind::order, 14, 9)}}))
      << "what came back goes first";
  hear(5, share_kind::offer, 0);
  hear(2, share_kind::request, 15);
  hear(3, share_kind::request, 16);
  hear(2, share_kind::offer, 1);
  EXPECT_EQ(host.sent, (std::vector{letter{rank_id{2}, bytes_of(share_kind::order, 16, 3)}}))
      << "it needs nothing any more";
  hear(200, share_kind::offer, 9);
  hear(3, share_kind::returned, 1, 200);
  EXPECT_TRUE(host.sent.empty()) << "there is no such rank";
}

TEST(share_balancer, who_waits_in_line_stays_there_when_it_tells_that_it_has_nothing) {
  scripted_host host;
  share_balancer manager({});
  manager.on_message(host, rank_id{7}, bytes_of(share_kind::request, 11));
  manager.on_message(host, rank_id{7}, bytes_of(share_kind::offer, 0));
  EXPECT_TRUE(host.sent.empty());
  manager.on_message(host, rank_id{5}, bytes_of(share_kind::offer, 1));
  EXPECT_EQ(host.sent, (std::vector{letter{rank_id{5}, bytes_of(share_kind::order, 11, 7)}}));
}

TEST(share_balancer, a_rank_tells_what_it_can_spare_when_that_has_changed_much) {
  scripted_host host;
  host.self = rank_id{5};
  share_balancer owner({.chunk = 2, .interval = 1});
  const auto told_with = [&](std::uint64_t objects) {
    host.sent.clear();
    host.objects.clear();
    host.time += 2;
    for (std::uint64_t n = 1; n <= objects; ++n) host.objects.push_back(object(n, 1, 1));
    owner.on_tick(host);
    return host.sent;
  };
  const auto offer = [](std::uint32_t chunks) {
    return std::vector{letter{rank_id{0}, bytes_of(share_kind::offer, chunks)}};
  };
  EXPECT_TRUE(told_with(1).empty());
  EXPECT_TRUE(owner.wanted());
  EXPECT_EQ(told_with(6), offer(3));
  EXPECT_FALSE(owner.wanted());
  EXPECT_TRUE(told_with(10).empty()) << "less than twice";
  EXPECT_EQ(told_with(12), offer(6));
  host.time -= 1.5;
  EXPECT_EQ(told_with(1), std::vector<letter>{}) << "too early";
  EXPECT_EQ(told_with(1), offer(0));
}

TEST(share_balancer, a_rank_applies_orders_of_the_manager_only_and_returns_those_that_it_cannot_apply) {
  scripted_host host;
  host.self = rank_id{5};
  host.objects = {object(1, 1, 1), object(2, 3, 1), object(3, 2, 1)};
  share_balancer owner({.chunk = 2});
  owner.on_message(host, rank_id{7}, bytes_of(share_kind::order, 1, 8));
  owner.on_message(host, rank_id{0}, bytes_of(share_kind::order, 1, 100));
  owner.on_message(host, rank_id{0}, bytes_of(share_kind::order, 1, 5));
  EXPECT_TRUE(host.moved.empty());
  owner.on_message(host, rank_id{0}, bytes_of(share_kind::order, 1, 8));
  EXPECT_EQ(host.moved, (std::vector<std::uint64_t>{2, 3}));
  EXPECT_EQ(host.moved_to.front(), rank_id{8});
  EXPECT_EQ(host.sent, (std::vector{letter{rank_id{8}, bytes_of(share_kind::given, 1)}}));
  host.sent.clear();
  host.idle = 3;
  owner.on_message(host, rank_id{0}, bytes_of(share_kind::order, 2, 8));
  EXPECT_EQ(host.sent, (std::vector{letter{rank_id{0}, bytes_of(share_kind::offer, 0)},
                                    letter{rank_id{0}, bytes_of(share_kind::returned, 2, 8)}}));
}

TEST(share_balancer, of_a_large_bag_a_rank_gives_more_than_a_chunk) {
  scripted_host host;
  host.self = rank_id{2};
  host.ranks = 4;
  for (std::uint64_t index = 1; index <= 320; ++index) host.objects.push_back(object(index, 1, 1));
  share_balancer owner({.chunk = 2});
  owner.on_message(host, rank_id{0}, bytes_of(share_kind::order, 1, 3));
  EXPECT_EQ(host.moved.size(), 10u) << "an eighth of its part";
}

TEST(share_balancer, a_needy_rank_asks_once_and_waits_for_the_answer_to_that) {
  scripted_host host;
  host.self = rank_id{5};
  host.idle = 1;
  share_balancer needy({.manager = 2});
  for (host.time = 0; host.time < 10; host.time += 1) needy.on_tick(host);
  EXPECT_EQ(host.sent, (std::vector{letter{rank_id{2}, bytes_of(share_kind::request, 1)}}));
  needy.on_message(host, rank_id{9}, bytes_of(share_kind::given, 3));
  needy.on_tick(host);
  EXPECT_EQ(host.sent.size(), 1u);
  needy.on_message(host, rank_id{9}, bytes_of(share_kind::given, 1));
  needy.on_tick(host);
  EXPECT_EQ(host.sent.size(), 1u) << "the objects are on their way";
  host.time += 1;
  needy.on_tick(host);
  EXPECT_EQ(host.sent.size(), 2u);
  host.objects = {object(1, 1, 1), object(2, 1, 1)};
  needy.on_tick(host);
  EXPECT_EQ(host.sent.back().second, bytes_of(share_kind::offer, 1)) << "it has got work elsewhere";
  host.objects.clear();
  needy.on_tick(host);
  EXPECT_EQ(host.sent.back().second, bytes_of(share_kind::request, 3));
}

}  // namespace
}  // namespace nacre::balance
