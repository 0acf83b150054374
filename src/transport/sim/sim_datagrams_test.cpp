// SPDX-License-Identifier: Apache-2.0
// Datagrams between simulated ranks: lost and late by chance, dropped by the switch, and beside messages that all come.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "transport/sim/sim_test_kit.hpp"

namespace nacre::transport::sim_tests {
namespace {

/// Sends numbered datagrams from rank 1 to rank 0, which takes them as they come.
struct numbered_datagrams {
  explicit numbered_datagrams(const sim_options& options) : all(2, options) {}

  bool send(std::uint32_t number, std::size_t bytes = sizeof(std::uint32_t)) {
    std::vector<std::byte> content(bytes);
    std::memcpy(content.data(), &number, sizeof number);
    return all.ends[1]->datagrams()->send(rank_id{0}, 5, content);
  }
  /// Lets time pass until nothing is under way, and polls when something has come.
  void run() {
    while (all.fabric.advance()) {
      all.take(0);
      while (const auto next = all.ends[0]->datagrams()->take()) {
        EXPECT_EQ(next->source, rank_id{1});
        EXPECT_EQ(next->label, 5U);
        std::uint32_t number = 0;
        std::memcpy(&number, next->bytes.data(), sizeof number);
        came.push_back(number);
      }
    }
  }
  job all;
  std::vector<std::uint32_t> came;
};

TEST(sim_datagrams, all_come_where_nothing_says_otherwise) {
  numbered_datagrams net(plain());
  net.all.ends[0]->set_arrival_hook(nullptr, nullptr);
  for (std::uint32_t i = 0; i < 500; ++i) EXPECT_TRUE(net.send(i));
  net.run();
  ASSERT_EQ(net.came.size(), 500U);
  EXPECT_TRUE(std::is_sorted(net.came.begin(), net.came.end())) << "without jitter there is no reason to overtake";
  EXPECT_EQ(net.all.fabric.traffic().datagrams, 500U);
  EXPECT_EQ(net.all.fabric.traffic().datagrams_lost, 0U);
}

TEST(sim_datagrams, are_lost_and_overtake_each_other_as_the_options_say_and_messages_are_not) {
  sim_options options = plain();
  options.network.loss_probability = 0.3;
  options.network.late_probability = 0.2;
  numbered_datagrams net(options);
  net.all.ends[0]->set_arrival_hook(nullptr, nullptr);
  for (std::uint32_t i = 0; i < 1000; ++i) {
    EXPECT_TRUE(net.send(i));
    net.all.send(1, 0, numbered(i));
    if (i % 100 == 99) net.run();
  }
  net.run();
  EXPECT_NEAR(static_cast<double>(net.came.size()), 700, 60);
  EXPECT_FALSE(std::is_sorted(net.came.begin(), net.came.end()));
  std::sort(net.came.begin(), net.came.end());
  EXPECT_EQ(std::adjacent_find(net.came.begin(), net.came.end()), net.came.end()) << "none comes twice";
  EXPECT_EQ(net.all.fabric.traffic().datagrams_lost, 1000 - net.came.size());
  ASSERT_EQ(net.all.received[0].size(), 1000U);
  for (std::uint32_t i = 0; i < 1000; ++i) EXPECT_EQ(net.all.received[0][i].number, i) << "messages keep their order";
  EXPECT_EQ(net.all.fabric.effects_under_way(), 0U) << "a lost datagram is under way no more";
}

TEST(sim_datagrams, those_that_find_a_full_buffer_in_the_switch_are_lost) {
  sim_options options = plain();
  options.network.switch_buffer = 1500;
  job all(4, options);
  std::vector<std::byte> content(1000);
  for (std::uint32_t source = 1; source <= 3; ++source) {
    EXPECT_TRUE(all.ends[source]->datagrams()->send(rank_id{0}, 1, content));
  }
  all.run();
  EXPECT_EQ(all.fabric.traffic().datagrams_lost, 1U) << "behind the first wait 1000 bytes, behind the second 2000";
  EXPECT_EQ(all.fabric.traffic().switch_drops, 0U) << "that counts messages";
}

TEST(sim_datagrams, a_sender_with_too_many_under_way_is_told) {
  numbered_datagrams net(plain());
  net.all.ends[0]->set_arrival_hook(nullptr, nullptr);
  std::uint32_t sent = 0;
  while (sent < 100'000 && net.send(sent)) ++sent;
  EXPECT_EQ(sent, 1024U);
  net.run();
  EXPECT_EQ(net.came.size(), sent);
  EXPECT_TRUE(net.send(sent)) << "there is room again";
}

TEST(sim_datagrams, the_same_seed_loses_the_same) {
  const auto lost_with = [](std::uint64_t seed) {
    sim_options options = plain(seed);
    options.network.loss_probability = 0.5;
    numbered_datagrams net(options);
    net.all.ends[0]->set_arrival_hook(nullptr, nullptr);
    for (std::uint32_t i = 0; i < 200; ++i) EXPECT_TRUE(net.send(i));
    net.run();
    return net.came;
  };
  EXPECT_EQ(lost_with(1), lost_with(1));
  EXPECT_NE(lost_with(1), lost_with(2));
}

}  // namespace
}  // namespace nacre::transport::sim_tests
