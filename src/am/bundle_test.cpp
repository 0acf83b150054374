// SPDX-License-Identifier: Apache-2.0
// The layout of bundles: the reader finds the written parts, and no forged byte leads it astray.
#include <nacre/rng.hpp>

#include "am/bundle.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <span>
#include <vector>

namespace nacre::bundle {
namespace {

constexpr limits job_limits{.sender = 0, .ranks = 8};

/// The part at `offset`; nothing when there is none.
std::optional<part> part_at(std::span<const std::byte> bytes, std::size_t& offset, const limits& limits) {
  part piece;
  return read_part(bytes, offset, limits, piece) ? std::optional(piece) : std::nullopt;
}

std::vector<std::byte> bundle_of(const std::vector<std::uint32_t>& payloads) {
  std::vector<std::byte> bytes;
  for (std::uint32_t i = 0; i < payloads.size(); ++i) {
    message_header header;
    header.payload_bytes = payloads[i];
    header.sequence = i;
    const std::size_t index = bytes.size();
    bytes.resize(index + part_bytes(payloads[i]));
    std::memcpy(bytes.data() + index, &header, sizeof header);
    std::memset(bytes.data() + index + sizeof header, static_cast<int>(i), payloads[i]);
  }
  return bytes;
}

TEST(bundle, parts_come_out_as_they_went_in) {
  const std::vector<std::uint32_t> payloads{0, 1, 7, 8, 9, 100};
  const std::vector<std::byte> bytes = bundle_of(payloads);
  std::size_t offset = 0;
  for (std::uint32_t i = 0; i < payloads.size(); ++i) {
    const auto part = part_at(bytes, offset, job_limits);
    ASSERT_TRUE(part);
    EXPECT_EQ(part->header.sequence, i);
    const message_ptr m = make_message_of(*part);
    EXPECT_EQ(m->header.payload_bytes, payloads[i]);
    for (const std::byte each : m->payload()) EXPECT_EQ(each, static_cast<std::byte>(i));
  }
  EXPECT_EQ(offset, bytes.size());
}

TEST(bundle, what_is_cut_off_is_no_part) {
  for (const std::uint32_t payload : {16U, 13U}) {  // with and without zeros behind it
    const std::vector<std::byte> bytes = bundle_of({payload});
    for (std::size_t length = 0; length < bytes.size(); ++length) {
      std::size_t offset = 0;
      EXPECT_FALSE(part_at(std::span(bytes).first(length), offset, job_limits)) << length;
      EXPECT_EQ(offset, 0U);
    }
  }
}

TEST(bundle, holds_no_bundle_no_credit_and_no_unknown_kind) {
  for (const auto kind : {message_kind::bundle, message_kind::credit, static_cast<message_kind>(200)}) {
    std::vector<std::byte> bytes = bundle_of({8});
    message_header header;
    header.payload_bytes = 8;
    header.kind = kind;
    std::memcpy(bytes.data(), &header, sizeof header);
    std::size_t offset = 0;
    EXPECT_FALSE(part_at(bytes, offset, job_limits));
  }
}

TEST(bundle, parts_come_in_the_name_of_their_sender_but_for_what_is_forwarded) {
  message_header header;
  const auto readable = [&] {
    std::vector<std::byte> bytes(part_bytes(0));
    std::memcpy(bytes.data(), &header, sizeof header);
    std::size_t offset = 0;
    return part_at(bytes, offset, {.sender = 3, .ranks = 8}).has_value();
  };
  header.source = 3;
  EXPECT_TRUE(readable());
  header.source = 4;
  EXPECT_FALSE(readable());
  header.hops = 1;
  EXPECT_FALSE(readable()) << "messages to ranks are not forwarded";
  header.kind = message_kind::object;
  EXPECT_TRUE(readable());
  header.source = 8;
  EXPECT_FALSE(readable()) << "there is no such rank";
}

TEST(bundle, forged_bytes_never_lead_outside) {
  rng random(7);
  for (int round = 0; round < 100'000; ++round) {
    std::vector<std::byte> bytes = bundle_of({static_cast<std::uint32_t>(random.below(40)), 8, 0});
    for (std::uint64_t changes = 1 + random.below(4); changes > 0; --changes) {
      bytes[random.below(bytes.size())] = static_cast<std::byte>(random.below(256));
    }
    // A block of exactly these bytes, so that the address sanitizer sees every step beyond it.
    std::size_t offset = 0;
    while (offset < bytes.size()) {
      const auto part = part_at(bytes, offset, job_limits);
      if (!part) break;
      ASSERT_LE(offset, bytes.size());
      EXPECT_EQ(make_message_of(*part)->header.payload_bytes, part->payload.size());
    }
  }
}

}  // namespace
}  // namespace nacre::bundle
