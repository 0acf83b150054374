// SPDX-License-Identifier: Apache-2.0
// The monitor of peers alone, over socket pairs, without a launcher.
#include "transport/peer_monitor.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <vector>

#include <gtest/gtest.h>

namespace nacre::transport {
namespace {

struct stream {
  std::array<int, 2> descriptors{-1, -1};
  const int result = ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, descriptors.data());
  net::unique_fd near_end{descriptors[0]};
  net::unique_fd far_end{descriptors[1]};
};

std::vector<std::uint32_t> readable(peer_monitor& monitor) {
  std::vector<std::uint32_t> ranks;
  monitor.poll([&](std::uint32_t rank) { ranks.push_back(rank); });
  return ranks;
}

TEST(peer_monitor, names_each_peer_whose_liveness_socket_is_readable) {
  stream first;
  stream second;
  peer_monitor monitor(4, nullptr);
  monitor.watch(rank_id(1), first.near_end.get());
  monitor.watch(rank_id(3), second.near_end.get());
  EXPECT_TRUE(readable(monitor).empty());
  second.far_end.reset();
  EXPECT_EQ(readable(monitor), std::vector<std::uint32_t>{3});
  ASSERT_EQ(::write(first.far_end.get(), "!", 1), 1);
  EXPECT_EQ(readable(monitor).size(), 2U);
}

TEST(peer_monitor, is_due_once_in_polls_apart_polls_and_after_make_due_until_the_next_poll) {
  peer_monitor monitor(2, nullptr);
  int times = 0;
  for (std::uint32_t poll = 1; poll <= 4 * peer_monitor::polls_apart; ++poll) times += monitor.due(poll) ? 1 : 0;
  EXPECT_EQ(times, 4);
  EXPECT_FALSE(monitor.due(1));
  monitor.make_due();
  EXPECT_TRUE(monitor.due(1));
  EXPECT_TRUE(readable(monitor).empty());
  EXPECT_FALSE(monitor.due(1));
}

TEST(peer_monitor, hands_lost_peers_out_in_their_order_and_unannounced_without_a_launcher) {
  peer_monitor monitor(3, nullptr);
  EXPECT_FALSE(monitor.any_failure());
  EXPECT_EQ(monitor.first_failure(), nullptr);
  monitor.report_lost(rank_id(2), "broke its stream");
  monitor.report_lost(rank_id(1), "went away");
  ASSERT_TRUE(monitor.any_failure());
  EXPECT_EQ(monitor.first_failure()->reason, "broke its stream");
  const auto first = monitor.take_failure();
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->peer, rank_id(2));
  EXPECT_FALSE(first->announced);
  EXPECT_TRUE(monitor.any_failure());
  EXPECT_EQ(monitor.take_failure()->peer, rank_id(1));
  EXPECT_FALSE(monitor.any_failure());
  EXPECT_FALSE(monitor.take_failure().has_value());
}

}  // namespace
}  // namespace nacre::transport
