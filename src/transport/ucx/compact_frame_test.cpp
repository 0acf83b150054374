// SPDX-License-Identifier: Apache-2.0
// Which headers a stamp holds, and which not.
#include "transport/ucx/compact_frame.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

namespace nacre::transport::ucx {
namespace {

constexpr std::uint32_t channel_index = 1;
const stamp plain{.key = 5, .source = 9, .sequence = 0x12345};

TEST(compact_frame, holds_its_header_beside_its_key_and_the_end_of_its_number) {
  for (const std::uint32_t handler : {0U, 513U, 0xffffU}) {
    for (std::uint8_t kind = 0; kind <= static_cast<std::uint8_t>(message_kind::reply); ++kind) {
      const message_header header{.payload_bytes = compact_bytes_max,
                                  .handler = handler,
                                  .source = plain.source,
                                  .kind = static_cast<message_kind>(kind),
                                  .flags = flag_communication};
      stamp said = plain;
      ASSERT_TRUE(compress(header, channel_index, said));
      message_header heard{.payload_bytes = header.payload_bytes};
      expand(said, channel_index, heard);
      EXPECT_EQ(std::memcmp(&heard, &header, sizeof heard), 0);
      EXPECT_TRUE(is_compact(said));
      EXPECT_EQ(said.key, plain.key);
      EXPECT_EQ(said.sequence & 0xffff, plain.sequence & 0xffff);
      EXPECT_EQ(fault_of_compact(said, header.payload_bytes), nullptr);
    }
  }
}

TEST(compact_frame, is_none_where_the_header_says_more_or_the_payload_is_longer) {
  const message_header header{.payload_bytes = 8, .source = plain.source};
  message_header longer = header, with_object = header, forwarded = header;
  longer.payload_bytes = compact_bytes_max + 1;
  with_object.object = 1;
  forwarded.source = plain.source + 1;
  for (const message_header& other : {longer, with_object, forwarded}) {
    stamp said = plain;
    EXPECT_FALSE(compress(other, channel_index, said));
    EXPECT_EQ(std::memcmp(&said, &plain, sizeof said), 0) << "nothing has changed";
  }
}

TEST(compact_frame, says_what_is_wrong_with_it) {
  for (std::uint32_t form = 128; form < 256; ++form) {
    const stamp stamp{.form = form};
    message_header header;
    expand(stamp, channel_index, header);
    const bool known = header.kind <= message_kind::reply;
    EXPECT_EQ(fault_of_compact(stamp, compact_bytes_max) == nullptr, known) << form;
    EXPECT_NE(fault_of_compact(stamp, compact_bytes_max + 1), nullptr) << form;
  }
}

}  // namespace
}  // namespace nacre::transport::ucx
