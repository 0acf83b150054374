// SPDX-License-Identifier: Apache-2.0
// Unreliable datagrams between two endpoints: sleepers, small packets, and more than one poll has room for.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "transport/udp/pair_test_kit.hpp"

namespace nacre::transport::udp {
namespace {

using std::chrono::steady_clock;

void send_number(endpoint& endpoint, rank_id target, std::uint32_t number, std::size_t bytes = sizeof(std::uint32_t)) {
  std::vector<std::byte> content(bytes);
  std::memcpy(content.data(), &number, sizeof number);
  EXPECT_TRUE(endpoint.datagrams()->send(target, 9, content));
}

/// The numbers of those that one poll has found.
std::vector<std::uint32_t> numbers_of_a_poll(endpoint& endpoint) {
  message_list arrived;
  const bool moved = endpoint.poll(arrived, 64);
  EXPECT_TRUE(arrived.empty());
  std::vector<std::uint32_t> result;
  while (const auto next = endpoint.datagrams()->take()) {
    std::uint32_t number = 0;
    std::memcpy(&number, next->bytes.data(), sizeof number);
    result.push_back(number);
  }
  EXPECT_TRUE(moved || result.empty()) << "poll tells that something has come";
  return result;
}

TEST(udp_datagrams, a_sleeping_rank_wakes_when_one_comes) {
  pair_over_datagrams job;
  const auto start = steady_clock::now();
  std::atomic<bool> about_to_sleep{false};
  std::thread sender([&] {
    while (!about_to_sleep) std::this_thread::yield();
    send_number(job.at(0), rank_id(1), 1);
  });
  std::vector<std::uint32_t> came;
  while (came.empty() && steady_clock::now() - start < longest_wait) {
    came = numbers_of_a_poll(job.at(1));
    about_to_sleep = true;
    if (came.empty()) job.at(1).wait(longest_wait);
  }
  sender.join();
  EXPECT_EQ(came.size(), 1U);
  EXPECT_LT(steady_clock::now() - start, longest_wait);
}

TEST(udp_datagrams, a_short_packet_bounds_them_and_they_come_where_the_kernel_joins_packets) {
  pair_over_datagrams job({.mtu = 1500});
  EXPECT_EQ(job.at(0).datagrams()->bytes_max(), 1500U - 28 - 48);
  for (std::uint32_t round = 0; round < 20; ++round) {
    for (std::uint32_t i = 0; i < 30; ++i) send_number(job.at(0), rank_id(1), round * 30 + i, 1500 - 28 - 48);
    job.send(0, 100'000);  // leaves in groups of datagrams
    message_list arrived;
    std::vector<bool> came(30);
    const auto start = steady_clock::now();
    while (arrived.size() < 1 && steady_clock::now() - start < longest_wait) {
      job.at(1).poll(arrived, 64);
      while (const auto next = job.at(1).datagrams()->take()) {
        std::uint32_t number = 0;
        std::memcpy(&number, next->bytes.data(), sizeof number);
        EXPECT_EQ(next->bytes.size(), 1500U - 28 - 48);
        came.at(number - round * 30) = true;
      }
      message_list nothing;
      job.at(0).poll(nothing, 64);
    }
    EXPECT_EQ(arrived.size(), 1U);
    EXPECT_EQ(came, std::vector<bool>(30, true));
  }
}

TEST(udp_datagrams, more_than_one_poll_has_room_for_stay_in_the_socket_and_those_not_taken_are_dropped) {
  pair_over_datagrams job;
  constexpr std::uint32_t all = 90;
  for (std::uint32_t i = 0; i < all; ++i) send_number(job.at(0), rank_id(1), i);
  std::vector<std::uint32_t> came;
  for (const auto start = steady_clock::now(); came.size() < all && steady_clock::now() - start < longest_wait;) {
    const std::vector<std::uint32_t> values = numbers_of_a_poll(job.at(1));
    EXPECT_LE(values.size(), 64U) << "a poll has room for as many";
    came.insert(came.end(), values.begin(), values.end());
  }
  ASSERT_EQ(came.size(), all);
  for (std::uint32_t i = 0; i < all; ++i) EXPECT_EQ(came[i], i) << "none has overwritten another";
  send_number(job.at(0), rank_id(1), 1);
  message_list nothing;
  const auto start = steady_clock::now();
  while (!job.at(1).poll(nothing, 64) && steady_clock::now() - start < longest_wait) continue;  // and none is taken
  EXPECT_TRUE(numbers_of_a_poll(job.at(1)).empty());
}

TEST(udp_datagrams, a_flood_of_them_makes_no_message_lost_and_goes_on_when_the_peer_has_read) {
  pair_over_datagrams job;
  const std::vector<std::byte> content(1000);
  message_list arrived, nothing;
  for (std::uint32_t round = 1; round <= 20; ++round) {
    std::size_t dropped = 0, came = 0;
    for (int i = 0; i < 20'000; ++i) dropped += job.at(0).datagrams()->send(rank_id(1), 9, content) ? 0 : 1;
    EXPECT_GT(dropped, 0U) << "the peer has not polled, so there is no room for all";
    job.send(0, 100);
    job.send(0, 200'000);
    while (job.at(1).poll(arrived, 64)) {  // rank 0 sends nothing again meanwhile
      while (job.at(1).datagrams()->take()) ++came;
    }
    ASSERT_EQ(arrived.size(), 2 * round) << "messages find room beside the flood";
    EXPECT_GT(came, 100U) << "and the flood goes on";
    while (job.at(0).poll(nothing, 64)) continue;
  }
}

TEST(udp_datagrams, those_to_a_rank_that_has_left_are_lost) {
  pair_over_datagrams job;
  job.at(1).close(std::chrono::seconds(5));
  for (int i = 0; i < 2000; ++i) {
    message_list nothing;
    job.at(0).poll(nothing, 64);
  }
  send_number(job.at(0), rank_id(1), 1);
  EXPECT_FALSE(job.at(0).failed());
}

}  // namespace
}  // namespace nacre::transport::udp
