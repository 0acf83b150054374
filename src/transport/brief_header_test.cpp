// SPDX-License-Identifier: Apache-2.0
// A compact header stands for exactly one header, and only for headers that it can carry whole.
#include "transport/brief_header.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace nacre::transport {
namespace {

constexpr std::uint32_t lane = 1;

TEST(brief_header, stands_for_its_header_in_every_field_or_there_is_none) {
  const message_header header{
      .payload_bytes = 40, .handler = 513, .source = 9, .flags = flag_communication, .channel = channel::application};
  ASSERT_TRUE(abridge(header, 9, lane));
  EXPECT_FALSE(abridge(header, 8, lane));
  EXPECT_FALSE(abridge(header, 9, lane + 1));
  int brief_ones = 0;
  for (std::size_t at = 0; at < sizeof header; ++at) {
    for (std::uint32_t value = 0; value < 256; ++value) {
      message_header other = header;
      std::memset(reinterpret_cast<std::byte*>(&other) + at, static_cast<int>(value), 1);
      const auto brief = abridge(other, 9, lane);
      if (!brief) continue;
      ++brief_ones;
      EXPECT_LT(*brief, 1u << brief_bits);
      EXPECT_EQ(fault_of_brief(*brief), nullptr);
      message_header heard{.payload_bytes = other.payload_bytes};
      spell_out(*brief, 9, lane, heard);
      EXPECT_EQ(std::memcmp(&heard, &other, sizeof heard), 0) << at << " " << value;
    }
  }
  EXPECT_GT(brief_ones, 300) << "most are its neighbours of other handlers, lengths, kinds and flags";
}

TEST(brief_header, of_any_number_is_known_or_said_to_be_wrong) {
  for (std::uint64_t number = 0; number < std::uint64_t{1} << 32; number += 0x10003) {
    const auto brief = static_cast<std::uint32_t>(number);
    message_header header;
    spell_out(brief, 0, lane, header);
    const bool known = header.kind <= message_kind::reply;
    EXPECT_EQ(fault_of_brief(brief) == nullptr, known) << brief;
    if (!known) continue;
    EXPECT_EQ(abridge(header, 0, lane), brief & ((1u << brief_bits) - 1));
  }
}

}  // namespace
}  // namespace nacre::transport
