// SPDX-License-Identifier: Apache-2.0
// The protocol over datagrams: faults that a path or a peer may commit, and when bytes leave.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "transport/udp/lossy_path_test_kit.hpp"

namespace nacre::transport::udp {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

two_ends sound_ends(connection_limits limits = small_datagrams) { return {1, {}, limits}; }

/// A datagram that side 1 of a pair of ends may have sent, signed with its key.
datagram_bytes signed_by_side_one(const datagram& datagram, std::size_t stream_bytes) {
  datagram_bytes result(overhead_of(datagram.acknowledged.size()) + stream_bytes);
  static_cast<void>(write_head(datagram, result));
  key_of(2).sign(result);
  return result;
}

datagram_bytes signed_frame(const message_header& header, std::uint64_t offset, std::uint64_t number = 0) {
  const datagram datagram{
      .number = number, .kind = datagram_kind::stream, .stream_channel = channel::application, .offset = offset};
  datagram_bytes result(overhead_of(0) + sizeof header);
  static_cast<void>(write_head(datagram, result));
  std::memcpy(result.data() + overhead_of(0), &header, sizeof header);
  key_of(2).sign(result);
  return result;
}

TEST(udp_connection, drops_a_datagram_of_which_any_bit_was_changed_and_takes_the_true_one) {
  for (const tag_method method : {tag_method::siphash, tag_method::aes}) {
    if (method == tag_method::aes && !has_aes()) continue;
    two_ends ends(1, {}, small_datagrams, method);
    ends.send(0, channel::application, 10);
    const datagram_bytes sent = ends.leaving(0).at(0);
    for (std::size_t bit = 0; bit < 8 * sent.size(); ++bit) {
      datagram_bytes harmed = sent;
      harmed[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
      ASSERT_EQ(ends.arrive(1, harmed), arrival::no_datagram) << bit;
    }
    EXPECT_FALSE(ends.delivered(1));
    EXPECT_EQ(ends.arrive(1, sent), arrival::taken);
    EXPECT_TRUE(ends.delivered(1));
  }
}

TEST(udp_connection, drops_a_datagram_that_was_cut_off_anywhere) {
  two_ends ends = sound_ends();
  ends.send(0, channel::application, 10);
  const datagram_bytes sent = ends.leaving(0).at(0);
  for (std::size_t bytes = 0; bytes < sent.size(); ++bytes) {
    const datagram_bytes front(sent.begin(), sent.begin() + static_cast<std::ptrdiff_t>(bytes));
    ASSERT_EQ(ends.arrive(1, front), arrival::no_datagram) << bytes;
  }
  EXPECT_FALSE(ends.delivered(1));
}

TEST(udp_connection, drops_a_datagram_that_comes_again_or_comes_back_to_its_sender) {
  two_ends ends = sound_ends();
  for (int i = 0; i < 100; ++i) ends.send(0, channel::application, 1200);
  std::vector<datagram_bytes> old;
  while (!ends.delivered(1)) {
    for (const datagram_bytes& each : ends.leaving(0)) {
      ASSERT_EQ(ends.arrive(1, each), arrival::taken);
      old.push_back(each);
    }
    for (const datagram_bytes& each : ends.leaving(1)) ends.arrive(0, each);
  }
  ASSERT_GE(old.size(), 80U);
  for (const datagram_bytes& each : old) {
    EXPECT_EQ(ends.arrive(1, each), arrival::replayed);
    EXPECT_EQ(ends.arrive(0, each), arrival::no_datagram) << "each direction has a key of its own";
  }
}

TEST(udp_connection, fails_when_the_peer_acknowledges_what_was_never_sent) {
  for (const std::uint64_t beyond : {1U, 2U, 1000U}) {
    two_ends ends = sound_ends();
    ends.send(0, channel::application, 10);
    const std::uint64_t end = ends.at(0).next_number() + ends.leaving(0).size();
    const number_range claimed{0, end + beyond};
    EXPECT_EQ(ends.arrive(0, signed_by_side_one({.number = 0, .acknowledged = {&claimed, 1}}, 0)), arrival::failed);
    EXPECT_EQ(ends.at(0).reason(), "acknowledged a datagram that was never sent");
    EXPECT_TRUE(ends.leaving(0).empty());
    EXPECT_EQ(ends.at(0).deadline(), never) << "nothing is due any more";
  }
}

TEST(udp_connection, fails_when_a_peer_that_has_the_key_sends_nonsense) {
  const datagram beyond{
      .kind = datagram_kind::stream, .stream_channel = channel::bulk, .offset = send_stream::window_bytes};
  message_header unknown;
  unknown.kind = static_cast<message_kind>(200);
  message_header elsewhere;
  elsewhere.channel = channel::system;
  message_header large;
  large.payload_bytes = (1u << 20) + 1;
  const struct {
    datagram_bytes sent;
    std::string words;
  } cases[]{
      {signed_by_side_one(beyond, 1), "sent bytes beyond the window of their channel"},
      {signed_by_side_one({.kind = datagram_kind::stream}, 0), "sent a datagram that makes no sense"},
      {signed_by_side_one({.kind = datagram_kind::acknowledgement}, 1), "sent a datagram that makes no sense"},
      {signed_by_side_one({.kind = static_cast<datagram_kind>(3)}, 1), "sent a datagram that makes no sense"},
      {signed_by_side_one({.kind = datagram_kind::stream, .stream_channel = static_cast<channel>(3)}, 1),
       "sent a datagram that makes no sense"},
      {signed_by_side_one({.kind = datagram_kind::stream, .offset = ~std::uint64_t{0}}, 2),
       "sent a datagram that makes no sense"},
      {signed_frame(unknown, 0), "sent a message of an unknown kind"},
      {signed_frame(elsewhere, 0), "sent a message on the connection of another channel"},
      {signed_frame(large, 0), "sent a message that is larger than allowed"},
  };
  for (const auto& each : cases) {
    two_ends ends = sound_ends();
    EXPECT_EQ(ends.arrive(0, each.sent), arrival::failed) << each.words;
    EXPECT_EQ(ends.at(0).reason(), each.words);
    EXPECT_EQ(ends.arrive(0, signed_frame({}, 0, 1)), arrival::no_datagram) << "it stays failed";
  }
}

TEST(udp_connection, tells_numbers_apart_whose_low_32_bits_are_equal) {
  connection_limits limits = small_datagrams;
  limits.first_number = (std::uint64_t{1} << 32) - 3;
  two_ends ends = sound_ends(limits);
  std::vector<datagram_bytes> all;
  for (int i = 0; i < 6; ++i) {
    ends.send(0, channel::application, 10);
    for (const datagram_bytes& each : ends.leaving(0)) all.push_back(each);
  }
  for (const datagram_bytes& each : all) EXPECT_EQ(ends.arrive(1, each), arrival::taken);
  EXPECT_TRUE(ends.delivered(1));
  EXPECT_TRUE(ends.run(milliseconds(10)));
  const datagram low{.number = std::uint64_t{1} << 32, .kind = datagram_kind::ping};
  datagram_bytes same_low_bits = signed_by_side_one(low, 0);
  EXPECT_EQ(ends.arrive(0, same_low_bits), arrival::taken) << "side 1 has sent other numbers so far";
  same_low_bits = signed_by_side_one({.number = std::uint64_t{2} << 32, .kind = datagram_kind::ping}, 0);
  EXPECT_EQ(ends.arrive(0, same_low_bits), arrival::taken);
}

TEST(udp_connection, sends_a_lost_datagram_again_as_soon_as_three_later_ones_are_acknowledged) {
  two_ends ends = sound_ends();
  for (int i = 0; i < 5; ++i) ends.send(0, channel::application, 1200);
  const std::vector<datagram_bytes> sent = ends.leaving(0);
  ASSERT_GE(sent.size(), 5U);
  for (std::size_t i = 1; i < sent.size(); ++i) ends.arrive(1, sent[i]);
  EXPECT_FALSE(ends.delivered(1));
  for (const datagram_bytes& each : ends.leaving(1)) ends.arrive(0, each);
  const std::vector<datagram_bytes> again = ends.leaving(0);
  ASSERT_EQ(again.size(), 1U) << "the lost one only, and without a time-out";
  ends.arrive(1, again[0]);
  EXPECT_TRUE(ends.delivered(1));
}

TEST(udp_connection, asks_a_silent_peer_ever_more_seldom_and_goes_on_when_it_answers) {
  two_ends ends = sound_ends();
  for (int i = 0; i < 200; ++i) ends.send(0, channel::application, 1200);
  while (!ends.leaving(0).empty()) continue;
  std::vector<time_point::duration> apart;
  for (int attempt = 0; attempt < 20; ++attempt) {
    const time_point::duration next = ends.at(0).deadline() - ends.now();
    apart.push_back(next);
    ends.pass(next);
    ends.at(0).on_deadline(ends.now());
    EXPECT_EQ(ends.leaving(0).size(), 1U) << "one datagram at a time, and always one";
  }
  EXPECT_LT(apart.front(), milliseconds(30));
  for (std::size_t i = 1; i < apart.size(); ++i) EXPECT_GE(apart[i], apart[i - 1]);
  EXPECT_EQ(apart.back(), sent_datagrams::retry_max);
  EXPECT_TRUE(ends.run(std::chrono::seconds(10))) << "a peer that was only slow is not lost";
}

TEST(udp_connection, lets_system_messages_leave_although_the_others_have_filled_the_window) {
  two_ends ends = sound_ends();
  for (int i = 0; i < 1000; ++i) ends.send(0, channel::bulk, 1200);
  while (!ends.leaving(0).empty()) continue;
  EXPECT_TRUE(ends.at(0).unsent());
  ends.send(0, channel::application, 1200);
  EXPECT_TRUE(ends.leaving(0).empty());
  ends.send(0, channel::system, 10);
  EXPECT_EQ(ends.leaving(0).size(), 1U);
  EXPECT_TRUE(ends.run(std::chrono::seconds(1)));
}

TEST(udp_connection, keeps_no_more_on_its_way_than_the_peers_socket_holds) {
  connection_limits limits = small_datagrams;
  limits.datagram_bytes = 65'507;
  limits.peer_buffer_bytes = 200'000;
  two_ends ends = sound_ends(limits);
  for (int i = 0; i < 40; ++i) ends.send(0, channel::bulk, 60'000);
  std::size_t held = 0;
  for (const datagram_bytes& each : ends.leaving(0)) held += buffer_bytes_of(each.size());
  EXPECT_GT(held, limits.peer_buffer_bytes / 2);
  EXPECT_LE(held, limits.peer_buffer_bytes);
}

TEST(udp_connection, bytes_are_under_way_until_they_are_acknowledged) {
  two_ends ends = sound_ends();
  EXPECT_FALSE(ends.at(0).under_way());
  ends.send(0, channel::application, 10);
  EXPECT_TRUE(ends.at(0).under_way()) << "they have not left";
  const std::vector<datagram_bytes> sent = ends.leaving(0);
  EXPECT_FALSE(ends.at(0).under_way()) << "they have left since the last call";
  EXPECT_TRUE(ends.at(0).under_way());
  for (const datagram_bytes& each : sent) ends.arrive(1, each);
  EXPECT_TRUE(ends.run(milliseconds(10)));
  EXPECT_FALSE(ends.at(0).under_way());
}

TEST(udp_connection, sends_what_the_network_did_not_take_again_under_new_numbers) {
  two_ends ends = sound_ends();
  for (int i = 0; i < 5; ++i) ends.send(0, channel::application, 1200);
  const std::uint64_t first = ends.at(0).next_number();
  const std::size_t count = ends.leaving(0).size();
  ends.at(0).withdraw(first + 1);
  EXPECT_EQ(ends.at(0).next_number(), first + count) << "no number is used twice, also of those that did not leave";
  EXPECT_EQ(ends.leaving(0).size(), count - 1);
  EXPECT_TRUE(ends.run(milliseconds(100)));
}

TEST(udp_connection, drops_what_is_submitted_after_it_has_left_and_still_acknowledges) {
  two_ends ends = sound_ends();
  ends.send(1, channel::application, 10);
  ends.at(0).leave();
  message_list batch;
  batch.push_back(told_message(channel::application, 0, 10));
  ends.at(0).submit(batch, 1);
  EXPECT_TRUE(batch.empty());
  for (const datagram_bytes& each : ends.leaving(1)) ends.arrive(0, each);
  ends.pass(round_trip::ack_delay_max);
  ends.at(0).on_deadline(ends.now());
  const std::vector<datagram_bytes> answers = ends.leaving(0);
  ASSERT_EQ(answers.size(), 1U);
  ends.arrive(1, answers[0]);
  EXPECT_TRUE(ends.at(1).all_acknowledged());
}

TEST(udp_connection, takes_messages_up_to_its_bound) {
  two_ends ends = sound_ends();
  message_list batch;
  for (std::uint32_t i = 0; i < 100; ++i) batch.push_back(told_message(channel::bulk, i, 1000));
  ends.at(0).submit(batch, 10'000);
  EXPECT_EQ(batch.size(), 90U);
  ends.at(0).submit(batch, 10'000);
  EXPECT_EQ(batch.size(), 90U);
}

}  // namespace
}  // namespace nacre::transport::udp
