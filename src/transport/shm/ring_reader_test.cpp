// SPDX-License-Identifier: Apache-2.0
// Slots that a reader must refuse, because no correct writer writes them.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "transport/shm/ring_test_kit.hpp"

namespace nacre::transport::shm {
namespace {

/// A slot that a reader must refuse, as the first one or after another one.
struct forgery {
  slot_kind kind;
  message_header header;
  const char* complaint;
};

message_header forged_header(void (*change)(message_header&)) {
  message_header result;
  change(result);
  return result;
}

TEST(ring_reader, refuses_by_name_every_slot_that_may_not_be) {
  const auto header = [](auto change) { return forged_header(change); };
  const message_header fine;
  const forgery forgeries[] = {
      {slot_kind::whole, header([](message_header& h) { h.payload_bytes = 0xffffffff; }), "larger than allowed"},
      {slot_kind::begin, header([](message_header& h) { h.payload_bytes = test_payload_bytes_max + 1; }),
       "larger than"},
      {slot_kind::whole, header([](message_header& h) { h.payload_bytes = 1025; }), "a slot that is too long"},
      {slot_kind::whole_inline, header([](message_header& h) { h.payload_bytes = 17; }), "a slot that is too long"},
      {slot_kind::whole_inline, header([](message_header& h) { h.kind = static_cast<message_kind>(99); }),
       "unknown kind"},
      {slot_kind::whole_inline, header([](message_header& h) { h.channel = channel::bulk; }), "another channel"},
      {slot_kind::whole_inline, header([](message_header& h) { h.channel = static_cast<channel>(7); }),
       "another channel"},
      {slot_kind::whole_inline, header([](message_header& h) { h.flags = 0x80; }), "unknown flags"},
      {slot_kind::whole_inline, header([](message_header& h) { h.source = 8; }), "does not exist"},
      {slot_kind::whole_inline, header([](message_header& h) { h.source = 1; }), "in the name of another"},
      {slot_kind::begin, fine, "no fragments"},
      {slot_kind::fragment, fine, "has not begun"},
      {slot_kind::again, fine, "again that has arrived"},
      {slot_kind::fetch, header([](message_header& h) { h.payload_bytes = 100; }), "cannot be fetched"},
      {static_cast<slot_kind>(0), fine, "unknown kind"},
      {static_cast<slot_kind>(200), fine, "unknown kind"},
  };
  for (const forgery& each : forgeries) {
    ring_memory memory(small_ring);
    reader_limits limits = test_limits();
    limits.peer = rank_id(0);
    ring_reader reader(memory.view(), limits);
    slot& first = memory.view().slots[0];
    first.header = each.header;
    first.stamp = make_stamp(0, each.kind);
    message_list arrived;
    reader.receive(arrived, enough);
    EXPECT_TRUE(arrived.empty()) << each.complaint;
    ASSERT_TRUE(reader.error()) << each.complaint;
    EXPECT_NE(std::string(*reader.error()).find(each.complaint), std::string::npos) << *reader.error();
    EXPECT_FALSE(reader.receive(arrived, enough)) << "a failed ring stays failed";
  }
}

TEST(ring_reader, refuses_fragments_that_do_not_add_up_and_messages_in_between) {
  for (const std::uint32_t second : {0U, 1025U, 501U}) {
    ring_memory memory(small_ring);
    ring_reader reader(memory.view(), test_limits());
    const ring_view view = memory.view();
    view.slots[0].header = {};
    view.slots[0].header.payload_bytes = 500;
    view.slots[0].stamp = make_stamp(0, slot_kind::begin);
    view.slots[1].header.payload_bytes = second;
    view.slots[1].stamp = make_stamp(1, slot_kind::fragment);
    message_list arrived;
    reader.receive(arrived, enough);
    EXPECT_EQ(reader.error(), "wrote a fragment of a wrong length") << second;
  }
  ring_memory memory(small_ring);
  ring_reader reader(memory.view(), test_limits());
  memory.view().slots[0].header = {};
  memory.view().slots[0].header.payload_bytes = 500;
  memory.view().slots[0].stamp = make_stamp(0, slot_kind::begin);
  memory.view().slots[1].stamp = make_stamp(1, slot_kind::whole_inline);
  message_list arrived;
  reader.receive(arrived, enough);
  EXPECT_EQ(reader.error(), "sent a message in the middle of another one");
}

TEST(ring_reader, takes_no_slot_whose_stamp_is_not_the_next) {
  ring_memory memory(small_ring);
  ring_reader reader(memory.view(), test_limits());
  message_list arrived;
  for (const std::uint64_t position : {1U, 16U, 15U}) {
    memory.view().slots[0].stamp = make_stamp(position, slot_kind::whole_inline);
    EXPECT_FALSE(reader.receive(arrived, enough)) << position;
  }
  EXPECT_FALSE(reader.error());
}

}  // namespace
}  // namespace nacre::transport::shm
