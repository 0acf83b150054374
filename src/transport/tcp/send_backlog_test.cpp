// SPDX-License-Identifier: Apache-2.0
// Links that wait for their sockets: which of them a poll lets send.
#include "transport/tcp/send_backlog.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace nacre::transport::tcp {
namespace {

/// A link whose socket takes `room` bytes, and which sends at most `bytes_a_flush` at once.
struct counted_link {
  static constexpr std::size_t bytes_a_flush = 100;

  [[nodiscard]] std::uint32_t number() const noexcept { return channel_number; }
  [[nodiscard]] std::size_t unsent_bytes() const noexcept { return unsent; }
  [[nodiscard]] bool blocked() const noexcept { return is_blocked; }
  void note_writable() noexcept { is_blocked = false; }
  bool flush() {
    ++flushes;
    const std::size_t wanted = std::min(unsent, bytes_a_flush);
    const std::size_t bytes = std::min(wanted, room);
    unsent -= bytes;
    room -= bytes;
    is_blocked = bytes < wanted;
    return bytes > 0;
  }

  std::uint32_t channel_number = 1;
  std::size_t unsent = 150;
  std::size_t room = 0;
  bool is_blocked = true;
  int flushes = 0;
};

class backlog_of_links : public testing::Test {
 protected:
  bool flush(const counted_link* watched_here = nullptr) {
    return backlog.flush(watched_here, [this](counted_link& link) { drained.push_back(&link); });
  }
  int flushes() const { return links[0].flushes + links[1].flushes + links[2].flushes; }

  std::array<counted_link, 3> links;
  send_backlog<counted_link> backlog;
  std::vector<counted_link*> drained;
};

TEST_F(backlog_of_links, a_link_with_a_full_socket_is_not_tried_before_the_kernel_says_that_it_takes_more) {
  for (counted_link& each : links) backlog.add(each);
  for (int polls = 0; polls < 100; ++polls) EXPECT_FALSE(flush());
  EXPECT_EQ(flushes(), 0);
  links[1].room = 50;
  backlog.note_writable(links[1]);
  EXPECT_TRUE(flush());
  for (int polls = 0; polls < 100; ++polls) EXPECT_FALSE(flush());
  EXPECT_EQ(flushes(), 1);
  EXPECT_EQ(links[1].unsent, 100U);
  EXPECT_TRUE(drained.empty());
}

TEST_F(backlog_of_links, a_link_that_sends_a_part_at_a_time_goes_on_at_each_poll_until_it_is_drained) {
  links[0].room = 1000;
  backlog.add(links[0]);
  backlog.add(links[1]);
  backlog.note_writable(links[0]);
  EXPECT_TRUE(flush());
  EXPECT_TRUE(drained.empty());
  EXPECT_TRUE(flush());
  EXPECT_EQ(drained, std::vector{&links[0]});
  EXPECT_FALSE(backlog.empty());
  EXPECT_FALSE(flush());
  EXPECT_EQ(flushes(), 2);
}

TEST_F(backlog_of_links, the_link_of_which_no_event_tells_and_all_of_them_at_the_end_are_tried_though_blocked) {
  links[2].channel_number = 0;
  for (counted_link& each : links) backlog.add(each);
  EXPECT_FALSE(flush(&links[1]));
  EXPECT_EQ(links[1].flushes, 1);
  EXPECT_EQ(flushes(), 1);
  for (counted_link& each : links) each.room = 1000;
  const auto note = [this](counted_link& link) { drained.push_back(&link); };
  EXPECT_TRUE(backlog.flush_all(note));
  EXPECT_TRUE(backlog.flush_all(note));
  EXPECT_TRUE(backlog.empty());
  EXPECT_EQ(drained, (std::vector{&links[2], &links[0], &links[1]})) << "channel system first";
}

}  // namespace
}  // namespace nacre::transport::tcp
