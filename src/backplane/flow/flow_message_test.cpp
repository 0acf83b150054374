// SPDX-License-Identifier: Apache-2.0
// Control messages as bytes: what encode writes decode reads, and nothing else.
#include <nacre/rng.hpp>

#include "backplane/flow/flow_message.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <span>
#include <vector>

namespace nacre::flow {
namespace {

[[nodiscard]] message some_grant() {
  return {.kind = message_kind::grant,
          .link = rank_id(3),
          .subject = rank_id(7),
          .stamp = {5, 1'000'000'000'000, 63, 5'000'000'000},
          .number = 9,
          .delay = nanoseconds(123'456),
          .sent = nanoseconds(77),
          .list = {1, 2, 4'000'000'000},
          .room = 4'100'000'000};
}

TEST(flow_message, every_field_travels) {
  const message sent = some_grant();
  const auto got = decode(encode(sent));
  ASSERT_TRUE(got);
  EXPECT_EQ(got->kind, sent.kind);
  EXPECT_EQ(got->link, sent.link);
  EXPECT_EQ(got->subject, sent.subject);
  EXPECT_EQ(got->stamp, sent.stamp);
  EXPECT_EQ(got->stamp.permit, sent.stamp.permit);
  EXPECT_EQ(got->stamp.used, sent.stamp.used);
  EXPECT_EQ(got->room, sent.room);
  EXPECT_EQ(got->number, sent.number);
  EXPECT_EQ(got->delay, sent.delay);
  EXPECT_EQ(got->sent, sent.sent);
  EXPECT_EQ(got->list, sent.list);
}

TEST(flow_message, a_message_of_a_line_of_ten_has_less_than_100_bytes) {
  message sent = some_grant();
  sent.list.assign(10, 0);
  EXPECT_LT(encode(sent).size(), 100U);
}

TEST(flow_message, bytes_that_are_cut_off_or_too_many_are_refused) {
  std::vector<std::byte> bytes = encode(some_grant());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(decode(std::span(bytes).first(length))) << length;
  }
  bytes.push_back(std::byte{0});
  EXPECT_FALSE(decode(bytes));
}

TEST(flow_message, whatever_bytes_come_a_decoded_message_is_within_its_bounds) {
  rng random(1);
  std::size_t decoded = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::vector<std::byte> bytes = encode(some_grant());
    for (std::uint64_t i = random.below(4) + 1; i > 0; --i) {
      bytes[random.below(bytes.size())] = static_cast<std::byte>(random.next());
    }
    const auto got = decode(bytes);
    if (!got) continue;
    ++decoded;
    ASSERT_LE(got->kind, message_kind::arrived);
    ASSERT_LE(got->list.size(), list_max);
    ASSERT_GE(got->delay, nanoseconds(0));
    ASSERT_GE(got->sent, nanoseconds(0));
  }
  EXPECT_GT(decoded, 1000U);
}

}  // namespace
}  // namespace nacre::flow
