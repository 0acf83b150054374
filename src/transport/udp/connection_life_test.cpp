// SPDX-License-Identifier: Apache-2.0
// The protocol over datagrams in long lives: after pauses, losses, floods, and batches of acknowledgements.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "transport/udp/congestion_window.hpp"
#include "transport/udp/lossy_path_test_kit.hpp"

namespace nacre::transport::udp {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr connection_limits wide_sockets{.frames = {}, .datagram_bytes = 1400, .peer_buffer_bytes = 1u << 28};

void hand_over(two_ends& ends, std::size_t source) {
  for (const datagram_bytes& each : ends.leaving(source)) static_cast<void>(ends.arrive(1 - source, each));
}

/// Hands over everything that can leave, and lets the delayed acknowledgements leave, too.
void let_both_answer(two_ends& ends) {
  for (int turn = 0; turn < 2; ++turn) {
    hand_over(ends, 0);
    hand_over(ends, 1);
    ends.pass(round_trip::ack_delay_max);
    for (const std::size_t side : {0U, 1U}) ends.at(side).on_deadline(ends.now());
  }
}

TEST(udp_connection_life, a_loss_after_a_pause_of_a_minute_is_found_as_soon_as_ever) {
  two_ends ends(1, {}, small_datagrams);
  for (int pause = 0; pause < 20; ++pause) {
    ends.send(0, channel::application, 10);
    hand_over(ends, 0);
    ends.pass(round_trip::ack_delay_max);
    ends.at(1).on_deadline(ends.now());
    const std::vector<datagram_bytes> answers = ends.leaving(1);
    ends.pass(seconds(60));  // the rank computes, and reads its answers afterwards
    for (const datagram_bytes& each : answers) static_cast<void>(ends.arrive(0, each));
  }
  ends.send(0, channel::application, 10);
  static_cast<void>(ends.leaving(0));  // lost
  ends.pass(milliseconds(1));
  ends.send(0, channel::application, 10);
  hand_over(ends, 0);
  hand_over(ends, 1);
  EXPECT_LE(ends.at(0).deadline() - ends.now(), sent_datagrams::retry_max + milliseconds(10));
  EXPECT_TRUE(ends.run(seconds(1)));
}

TEST(udp_connection_life, the_window_doubles_in_each_round_also_where_acknowledgements_come_together) {
  two_ends ends(1, {}, wide_sockets);
  for (int i = 0; i < 20'000; ++i) ends.send(0, channel::bulk, 1000);
  std::size_t last = 0;
  for (int round = 0; round < 8; ++round) {
    const std::vector<datagram_bytes> sent = ends.leaving(0);
    last = sent.size();
    std::vector<datagram_bytes> answers;
    for (const datagram_bytes& each : sent) {
      static_cast<void>(ends.arrive(1, each));
      for (datagram_bytes& answer : ends.leaving(1)) answers.push_back(std::move(answer));
    }
    ends.pass(milliseconds(1));
    ends.at(1).on_deadline(ends.now());
    for (datagram_bytes& answer : ends.leaving(1)) answers.push_back(std::move(answer));
    for (const datagram_bytes& each : answers) static_cast<void>(ends.arrive(0, each));  // in one batch
  }
  EXPECT_GT(last, 10U << 6);
}

TEST(udp_connection_life, datagrams_are_as_short_as_ever_after_many_losses) {
  two_ends ends(1, {}, small_datagrams);
  const auto answer_bytes = [&] {
    ends.send(1, channel::application, 8);
    const std::vector<datagram_bytes> sent = ends.leaving(1);
    for (const datagram_bytes& each : sent) static_cast<void>(ends.arrive(0, each));
    let_both_answer(ends);
    return sent.empty() ? 0 : sent.front().size();
  };
  let_both_answer(ends);
  static_cast<void>(answer_bytes());
  const std::size_t previous = answer_bytes();
  for (int loss = 0; loss < 40; ++loss) {
    ends.send(0, channel::application, 10);
    static_cast<void>(ends.leaving(0));  // lost
    ends.send(0, channel::application, 10);
    EXPECT_TRUE(ends.run(seconds(1)));
  }
  for (int i = 0; i < 3; ++i) static_cast<void>(answer_bytes());
  EXPECT_LE(answer_bytes(), previous + 16);
}

TEST(udp_connection_life, a_loss_is_found_though_only_acknowledgements_follow_it) {
  two_ends ends(1, {}, small_datagrams);
  let_both_answer(ends);
  ends.send(0, channel::application, 10);
  static_cast<void>(ends.leaving(0));  // lost
  std::size_t again = 0;
  for (int i = 0; i < 40 && again == 0; ++i) {
    for (int k = 0; k < 8; ++k) {
      ends.send(1, channel::application, 1000);
      hand_over(ends, 1);
    }
    for (const datagram_bytes& each : ends.leaving(0)) {
      again += each.size() > 140 ? 1 : 0;
      static_cast<void>(ends.arrive(1, each));
    }
    again += ends.delivered(1) ? 1 : 0;
  }
  EXPECT_GT(again, 0U) << "no time has passed, so no time-out has found it";
}

TEST(udp_connection_life, bulk_and_application_take_turns) {
  two_ends ends(1, {}, small_datagrams);
  for (int i = 0; i < 100; ++i) {
    for (const channel channel : {channel::application, channel::bulk}) ends.send(0, channel, 1200);
  }
  std::size_t all = 0, of_bulk = 0;
  for (const datagram_bytes& each : ends.leaving(0)) {
    ack_ranges ranges;
    const auto datagram = read_datagram(each, ranges);
    ASSERT_TRUE(datagram);
    ++all;
    of_bulk += datagram->stream_channel == channel::bulk ? 1 : 0;
  }
  EXPECT_GT(all, 6U);
  EXPECT_GE(of_bulk, all / 2);
  EXPECT_LE(of_bulk, all / 2 + 1);
  EXPECT_TRUE(ends.run(seconds(10)));
}

TEST(congestion_window, grows_by_a_datagram_for_a_window_of_short_ones_too) {
  using time_point = congestion_window::time_point;
  congestion_window window(1400, 0);
  const time_point begin{};
  window.on_lost(begin, begin);
  const time_point later = begin + milliseconds(1);
  while (window.bytes() < 400'000) window.on_acknowledged(150, later, true);
  const std::uint64_t previous = window.bytes();
  for (std::uint64_t bytes = 0; bytes < 10 * previous; bytes += 150) window.on_acknowledged(150, later, true);
  EXPECT_GT(window.bytes(), previous + 8 * 1400);
  EXPECT_LE(window.bytes(), previous + 10 * 1400);
}

constexpr connection_limits long_datagrams{
    .frames = {}, .datagram_bytes = 65'507, .peer_buffer_bytes = 4u << 20, .network_bytes_min = 4u << 20};

TEST(udp_connection, a_forged_datagram_that_is_written_into_a_message_under_way_does_the_message_no_harm) {
  if (!has_aes() || !key_of(1, tag_method::aes).takes_pieces()) GTEST_SKIP() << "no AES, or no library of gmac";
  two_ends ends(1, {}, long_datagrams, tag_method::aes);
  ends.send(0, channel::application, 1'000'000);
  const std::vector<datagram_bytes> sent = ends.leaving(0);
  ASSERT_GE(sent.size(), 15U);
  for (std::size_t i = 0; i < sent.size(); ++i) {
    datagram_bytes forged = sent[i];
    forged[forged.size() / 2] ^= std::byte{1};
    ASSERT_EQ(ends.arrive(1, forged), arrival::no_datagram);
    ASSERT_EQ(ends.arrive(1, datagram_bytes(20'000, std::byte{0x5a})), arrival::no_datagram);
    if (i > 0) {
      ASSERT_EQ(ends.arrive(1, sent[i - 1]), arrival::replayed);
    }
    ASSERT_FALSE(ends.delivered(1));
    ASSERT_EQ(ends.arrive(1, sent[i]), arrival::taken);
  }
  EXPECT_TRUE(ends.delivered(1)) << "and its bytes are those that were sent";
  EXPECT_GE(ends.landed(), sent.size() / 2);
}

TEST(udp_connection, an_acknowledgement_waits_for_as_many_bytes_as_the_limits_say_and_no_longer_than_its_time) {
  connection_limits limits = long_datagrams;
  limits.acknowledge_bytes = 4 * 65'000;
  two_ends ends(1, {}, limits);
  ends.send(0, channel::application, 1'000'000);
  const std::vector<datagram_bytes> sent = ends.leaving(0);
  std::size_t acknowledgements = 0;
  for (const datagram_bytes& each : sent) {
    ASSERT_EQ(ends.arrive(1, each), arrival::taken);
    for (const datagram_bytes& answer : ends.leaving(1)) {
      ASSERT_EQ(ends.arrive(0, answer), arrival::taken);
      ++acknowledgements;
    }
  }
  EXPECT_GE(acknowledgements, 3U);
  EXPECT_LE(acknowledgements, sent.size() / 4 + 1) << "one for some of them, not for each";
  ends.pass(round_trip::ack_delay_max);
  ends.at(1).on_deadline(ends.now());
  for (const datagram_bytes& answer : ends.leaving(1)) ends.arrive(0, answer);
  EXPECT_TRUE(ends.at(0).all_acknowledged()) << "the last ones are acknowledged in time";
}

}  // namespace
}  // namespace nacre::transport::udp
