// SPDX-License-Identifier: Apache-2.0
// Which headers a stamp can stand for, and that it stands for no other.
#include "transport/ucx/brief.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

namespace nacre::transport::ucx {
namespace {

constexpr std::uint32_t lane = 1;
const stamp plain{.key = 5, .source = 9, .sequence = 0x12345};

TEST(brief_frame, stands_for_its_header_in_every_field_or_is_none) {
  const message_header header{
      .payload_bytes = 40, .handler = 513, .source = 9, .flags = flag_communication, .channel = channel::application};
  stamp with = plain;
  ASSERT_TRUE(abridge(header, lane, with));
  int brief_ones = 0;
  for (std::size_t at = 0; at < sizeof header; ++at) {
    for (std::uint32_t value = 0; value < 256; ++value) {
      message_header other = header;
      std::memset(reinterpret_cast<std::byte*>(&other) + at, static_cast<int>(value), 1);
      stamp said = plain;
      if (!abridge(other, lane, said)) {
        EXPECT_EQ(std::memcmp(&said, &plain, sizeof said), 0) << "nothing has changed";
        continue;
      }
      ++brief_ones;
      message_header heard{.payload_bytes = other.payload_bytes};
      spell_out(said, lane, heard);
      EXPECT_EQ(std::memcmp(&heard, &other, sizeof heard), 0) << at << " " << value;
      EXPECT_TRUE(is_brief(said));
      EXPECT_EQ(said.key, plain.key);
      EXPECT_EQ(said.sequence & 0xffff, plain.sequence & 0xffff);
      EXPECT_EQ(fault_of_brief(said, other.payload_bytes), nullptr);
    }
  }
  EXPECT_GT(brief_ones, 300) << "most are its neighbours of other handlers, lengths, kinds and flags";
}

TEST(brief_frame, says_what_is_wrong_with_it) {
  for (std::uint32_t form = 128; form < 256; ++form) {
    const stamp of{.form = form};
    message_header header;
    spell_out(of, lane, header);
    const bool known = header.kind <= message_kind::reply;
    EXPECT_EQ(fault_of_brief(of, brief_bytes_max) == nullptr, known) << form;
    EXPECT_NE(fault_of_brief(of, brief_bytes_max + 1), nullptr) << form;
  }
}

}  // namespace
}  // namespace nacre::transport::ucx
