// SPDX-License-Identifier: Apache-2.0
// A master and a worker, each against a scripted host.
#include "balance/balancer/master_worker_balancer.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include <nacre/archive.hpp>

#include "balance/balancer/balancer_test_host.hpp"

namespace nacre::balance {
namespace {

enum class master_worker_kind : std::uint8_t { request, given };
std::vector<std::byte> bytes_of(master_worker_kind kind, std::uint32_t number) { return pack(kind, number); }

TEST(master_worker_balancer, a_worker_asks_once_and_then_waits_in_silence) {
  scripted_host host;
  host.self = rank_id{5};
  master_worker_balancer worker({.master = 3});
  worker.on_tick(host);
  EXPECT_TRUE(host.sent.empty()) << "it has work";
  host.idle = 1;
  for (host.time = 0; host.time < 10; host.time += 1) worker.on_tick(host);
  ASSERT_EQ(host.sent.size(), 1u);
  EXPECT_EQ(host.sent[0], std::pair(rank_id{3}, bytes_of(master_worker_kind::request, 1)));
  worker.on_message(host, rank_id{4}, bytes_of(master_worker_kind::given, 1));
  worker.on_message(host, rank_id{3}, bytes_of(master_worker_kind::given, 7));
  worker.on_tick(host);
  EXPECT_EQ(host.sent.size(), 1u) << "nobody has answered that request";
  worker.on_message(host, rank_id{3}, bytes_of(master_worker_kind::given, 1));
  host.time += 100e-6;
  worker.on_tick(host);
  EXPECT_EQ(host.sent.size(), 1u) << "the object is on its way";
  host.time += 200e-6;
  worker.on_tick(host);
  EXPECT_EQ(host.sent.size(), 2u);
}

TEST(master_worker_balancer, a_worker_with_little_asks_ahead_of_need) {
  scripted_host host;
  host.self = rank_id{5};
  host.objects = {object(1, 4, 1, true), object(2, 1, 1)};
  master_worker_balancer content({.low_load = 5});
  content.on_tick(host);
  EXPECT_TRUE(host.sent.empty());
  master_worker_balancer hungry({.low_load = 5.5});
  hungry.on_tick(host);
  EXPECT_EQ(host.sent.size(), 1u);
}

TEST(master_worker_balancer,
     the_master_serves_its_line_in_order_with_its_heaviest_and_keeps_what_its_own_workers_need) {
  scripted_host host;
  host.self = rank_id{99};
  host.idle = 1;
  master_worker_balancer master({.master = 1000});  // the last
  for (const std::uint32_t source : {7u, 9u, 7u, 8u})
    master.on_message(host, rank_id{source}, bytes_of(master_worker_kind::request, source));
  EXPECT_TRUE(master.wanted());
  EXPECT_TRUE(host.sent.empty());
  host.objects = {object(1, 1, 1), object(2, 5, 1), object(3, 9, 1, true), object(4, 3, 1)};
  master.on_tick(host);
  EXPECT_EQ(host.moved, (std::vector<std::uint64_t>{2, 4})) << "one is for its own worker, one runs";
  EXPECT_EQ(host.moved_to, (std::vector{rank_id{7}, rank_id{9}}));
  ASSERT_EQ(host.sent.size(), 2u);
  EXPECT_EQ(host.sent[1], std::pair(rank_id{9}, bytes_of(master_worker_kind::given, 9)));
  EXPECT_TRUE(master.wanted()) << "one still waits";
}

TEST(master_worker_balancer, who_is_served_later_than_others_hears_the_number_of_its_own_request) {
  scripted_host host;
  host.self = rank_id{3};
  master_worker_balancer master({.master = 3});
  for (const std::uint32_t source : {7u, 9u, 8u})
    master.on_message(host, rank_id{source}, bytes_of(master_worker_kind::request, source));
  host.objects = {object(1, 1, 1), object(2, 1, 1)};
  master.on_tick(host);
  ASSERT_EQ(host.sent.size(), 2u);
  master.on_tick(host);
  ASSERT_EQ(host.sent.size(), 3u);
  EXPECT_EQ(host.sent.back(), std::pair(rank_id{8}, bytes_of(master_worker_kind::given, 8)));
  EXPECT_FALSE(master.wanted());
}

TEST(master_worker_balancer, of_a_large_bag_the_master_gives_more_at_a_time) {
  scripted_host host;
  host.ranks = 4;
  for (std::uint64_t index = 1; index <= 320; ++index) host.objects.push_back(object(index, 1, 1));
  master_worker_balancer master({});
  master.on_message(host, rank_id{1}, bytes_of(master_worker_kind::request, 1));
  EXPECT_EQ(host.moved.size(), 10u) << "an eighth of its part";
}

TEST(master_worker_balancer, only_the_master_gives) {
  scripted_host host;
  host.objects = {object(1, 1, 1)};
  master_worker_balancer worker({.master = 3});
  worker.on_message(host, rank_id{7}, bytes_of(master_worker_kind::request, 1));
  worker.on_tick(host);
  EXPECT_TRUE(host.moved.empty());
  EXPECT_FALSE(worker.wanted());
}

}  // namespace
}  // namespace nacre::balance
