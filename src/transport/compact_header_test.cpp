// SPDX-License-Identifier: Apache-2.0
// A compact header stands for exactly one header, and only for headers that it can carry whole.
#include "transport/compact_header.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace nacre::transport {
namespace {

constexpr std::uint32_t channel_index = 1;

TEST(compact_header, stands_for_its_header_in_every_field_or_there_is_none) {
  const message_header header{
      .payload_bytes = 40, .handler = 513, .source = 9, .flags = flag_communication, .channel = channel::application};
  ASSERT_TRUE(compress(header, 9, channel_index));
  EXPECT_FALSE(compress(header, 8, channel_index));
  EXPECT_FALSE(compress(header, 9, channel_index + 1));
  int compact_ones = 0;
  for (std::size_t index = 0; index < sizeof header; ++index) {
    for (std::uint32_t value = 0; value < 256; ++value) {
      message_header other = header;
      std::memset(reinterpret_cast<std::byte*>(&other) + index, static_cast<int>(value), 1);
      const auto compact = compress(other, 9, channel_index);
      if (!compact) continue;
      ++compact_ones;
      EXPECT_LT(*compact, 1u << compact_bits);
      EXPECT_EQ(fault_of_compact(*compact), nullptr);
      message_header heard{.payload_bytes = other.payload_bytes};
      expand(*compact, 9, channel_index, heard);
      EXPECT_EQ(std::memcmp(&heard, &other, sizeof heard), 0) << index << " " << value;
    }
  }
  EXPECT_GT(compact_ones, 300) << "most are its neighbours of other handlers, lengths, kinds and flags";
}

TEST(compact_header, of_any_number_is_known_or_said_to_be_wrong) {
  for (std::uint64_t number = 0; number < std::uint64_t{1} << 32; number += 0x10003) {
    const auto compact = static_cast<std::uint32_t>(number);
    message_header header;
    expand(compact, 0, channel_index, header);
    const bool known = header.kind <= message_kind::reply;
    EXPECT_EQ(fault_of_compact(compact) == nullptr, known) << compact;
    if (!known) continue;
    EXPECT_EQ(compress(header, 0, channel_index), compact & ((1u << compact_bits) - 1));
  }
}

}  // namespace
}  // namespace nacre::transport
