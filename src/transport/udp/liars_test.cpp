// SPDX-License-Identifier: Apache-2.0
// Ranks over datagrams with a peer that lies, and strangers that send datagrams to them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <nacre/rng.hpp>

#include "transport/udp/liar_test_kit.hpp"

namespace nacre::transport::udp {
namespace {

TEST(udp, a_datagram_without_the_key_changes_nothing_and_a_forged_header_is_a_failure_that_names_the_rank) {
  rank_with_a_liar job;
  message_header header;
  header.source = 1;
  const auto bytes = std::as_bytes(std::span(&header, 1));
  const datagram first{.number = 0, .kind = datagram_kind::stream, .stream_channel = channel::application};
  job.send(first, bytes, 9);
  EXPECT_FALSE(job.poll_for_failure(200));
  EXPECT_TRUE(job.arrived.empty());
  job.send(first, bytes, 2);
  EXPECT_FALSE(job.poll_for_failure(200));
  EXPECT_EQ(job.arrived.size(), 1U);
  job.send(first, bytes, 2);
  EXPECT_FALSE(job.poll_for_failure(200));
  EXPECT_EQ(job.arrived.size(), 1U) << "a replay changes nothing";
  header.source = 7;
  job.send(
      {.number = 1, .kind = datagram_kind::stream, .stream_channel = channel::application, .offset = sizeof header},
      bytes, 2);
  const auto seen = job.poll_for_failure(200);
  ASSERT_TRUE(seen);
  EXPECT_EQ(describe(*seen), "rank 1 sent a message from a rank that does not exist");
  job.hang_up();
  EXPECT_FALSE(job.poll_for_failure(3000)) << "it is told once";
}

/// A long message that comes in datagrams of 30,000 bytes. In front of each of them come hundreds that are no datagrams
/// of the peer: random bytes, and this one harmed, cut off, from a stranger's address, or again.
void hold_against_strangers(tag_method method) {
  constexpr std::size_t each = 30'000;
  rng random(1);
  rank_with_a_liar job(method, 32'000);
  const message_ptr m = make_message(300'000);
  m->header.source = 1;
  for (std::size_t i = 0; i < m->header.payload_bytes; ++i) m->body()[i] = static_cast<std::byte>(i * 7 + (i >> 9));
  const std::span<const std::byte> frame(m->body() - sizeof m->header, sizeof m->header + m->header.payload_bytes);
  std::uint64_t number = 0;
  for (std::size_t offset = 0; offset < frame.size(); offset += each, ++number) {
    const auto bytes = frame.subspan(offset, std::min(each, frame.size() - offset));
    const datagram datagram{
        .number = number, .kind = datagram_kind::stream, .stream_channel = channel::application, .offset = offset};
    const std::vector<std::byte> sent = job.signed_datagram(datagram, bytes);
    job.send_from_a_stranger(sent);
    for (int i = 0; i < 200; ++i) {
      std::vector<std::byte> harmed = sent;
      const std::size_t place = random.below(sent.size());
      if (i % 3 == 0) harmed.resize(place);
      if (i % 3 == 1)
        harmed[i % 2 == 0 ? place : place % overhead_of(0)] ^= static_cast<std::byte>(1 + random.below(255));
      if (i % 3 == 2) {
        harmed.resize(random.below(3000));
        for (std::byte& any : harmed) any = static_cast<std::byte>(random.below(256));
      }
      job.send_as_they_are(harmed);
      ASSERT_FALSE(job.poll_for_failure(1)) << "datagram " << i << " in front of " << number;
    }
    ASSERT_FALSE(job.poll_for_failure(50));
    ASSERT_TRUE(job.arrived.empty());
    job.send_as_they_are(sent);
    job.send_as_they_are(sent);
    ASSERT_FALSE(job.poll_for_failure(50));
  }
  ASSERT_EQ(job.arrived.size(), 1U);
  EXPECT_EQ(std::memcmp(job.arrived.front()->body(), m->body(), m->header.payload_bytes), 0);
}

TEST(udp, thousands_of_forged_harmed_and_cut_off_datagrams_and_a_strangers_change_nothing_of_a_message_between_them) {
  hold_against_strangers(tag_method::siphash);
  if (has_aes()) hold_against_strangers(tag_method::aes);
}

TEST(udp, a_stream_that_ends_is_a_failure_without_a_shutdown_and_none_with_one) {
  {
    rank_with_a_liar job;
    job.hang_up();
    const auto seen = job.poll_for_failure(3000);
    ASSERT_TRUE(seen);
    EXPECT_EQ(describe(*seen), "rank 1 closed its connection without a shutdown");
  }
  rank_with_a_liar job;
  job.say(1);
  job.say(2);
  job.hang_up();
  EXPECT_FALSE(job.poll_for_failure(5000));
}

TEST(udp, a_rank_that_says_more_after_its_shutdown_is_a_failure) {
  rank_with_a_liar job;
  job.say(2);
  job.say(2);
  const auto seen = job.poll_for_failure(5000);
  ASSERT_TRUE(seen);
  EXPECT_EQ(describe(*seen), "rank 1 sent something after its shutdown");
}

}  // namespace
}  // namespace nacre::transport::udp
