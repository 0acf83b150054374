// SPDX-License-Identifier: Apache-2.0
// The promises of source_windows and baggage, each as a sentence.
#include "mobile/entry/source_windows.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include <nacre/archive.hpp>

#include "mobile/entry/baggage.hpp"

namespace nacre {
namespace {

using grants = std::vector<source_windows::grant>;

bool nobody(std::uint32_t) { return false; }

TEST(source_windows, a_source_that_asks_is_cleared_from_the_next_number_of_its_stream) {
  source_windows windows;
  windows.on_request(3, 100, 10);
  EXPECT_EQ(windows.clear(0, 0, nobody), (grants{{rank_id(3), 10 + source_windows::window_min}}));
  EXPECT_EQ(windows.in_flight(), source_windows::window_min);
  EXPECT_TRUE(windows.clear(0, 0, nobody).empty()) << "the window is full";
}

TEST(source_windows, a_source_that_asks_again_may_have_forgotten_what_was_cleared) {
  source_windows windows;
  windows.on_request(3, 100, 10);
  ASSERT_EQ(windows.clear(0, 0, nobody).size(), 1U);
  windows.on_request(3, 100, 12);
  EXPECT_EQ(windows.in_flight(), 0U);
  EXPECT_EQ(windows.clear(0, 0, nobody), (grants{{rank_id(3), 12 + source_windows::window_min}}));
}

TEST(source_windows, the_window_follows_what_the_object_has_run_in_this_stay_and_the_last_one) {
  source_windows windows;
  EXPECT_EQ(windows.window(0), source_windows::window_min);
  EXPECT_EQ(windows.window(100), 100U);
  windows.on_departure(100);
  EXPECT_EQ(windows.window(0), 100U);
  EXPECT_EQ(windows.window(50), 100U);
  EXPECT_EQ(windows.window(150), 150U);
  EXPECT_EQ(windows.window(1'000'000'000), source_windows::window_max);
}

TEST(source_windows, what_waits_at_the_object_takes_room_of_the_window) {
  source_windows windows;
  windows.on_request(1, 1000, 0);
  EXPECT_TRUE(windows.clear(101, 100, nobody).empty());
  EXPECT_EQ(windows.clear(40, 100, nobody), (grants{{rank_id(1), 60}}));
}

TEST(source_windows, sources_share_a_window_and_take_turns) {
  source_windows windows;
  for (const std::uint32_t rank : {4U, 2U, 9U}) windows.on_request(rank, 1000, 0);
  EXPECT_EQ(windows.clear(0, 30, nobody), (grants{{rank_id(2), 10}, {rank_id(4), 10}, {rank_id(9), 10}}));
  for (const std::uint32_t rank : {2U, 4U, 9U}) windows.on_next(rank, 10);
  EXPECT_EQ(windows.clear(28, 30, nobody), grants());
  EXPECT_EQ(windows.clear(14, 30, [](std::uint32_t rank) { return rank == 2; }),
            (grants{{rank_id(4), 15}, {rank_id(9), 15}}))
      << "a stream that stands still could not go on";
}

TEST(source_windows, a_source_whose_messages_have_all_come_hears_of_that_and_is_forgotten) {
  source_windows windows;
  windows.on_request(1, 20, 5);
  windows.on_next(1, 20);  // they were on their way already
  EXPECT_EQ(windows.clear(0, 0, nobody), (grants{{rank_id(1), 20}})) << "else it would wait for ever";
  EXPECT_TRUE(windows.empty());
}

TEST(source_windows, a_source_that_asks_after_all_its_messages_have_come_hears_of_that) {
  source_windows windows;
  windows.on_request(1, 4, 4);  // an earlier clearance let them go, faster than this request
  EXPECT_EQ(windows.clear(0, 0, nobody), (grants{{rank_id(1), 4}})) << "else it would keep what comes after them";
  EXPECT_TRUE(windows.empty());
  windows.on_request(2, 4, 9);
  EXPECT_EQ(windows.clear(0, 0, nobody), (grants{{rank_id(2), 4}}));
  EXPECT_TRUE(windows.empty());
}

TEST(source_windows, a_source_that_asks_is_heard_though_its_messages_come_and_go_back_before_there_is_room) {
  source_windows windows;
  windows.on_request(1, 4, 2);
  windows.on_next(1, 10);
  windows.on_next(1, 6);
  EXPECT_TRUE(windows.sound(2));
  EXPECT_EQ(windows.clear(0, 0, nobody), (grants{{rank_id(1), 4}}));
  EXPECT_TRUE(windows.empty());
}

TEST(source_windows, messages_that_have_gone_back_are_cleared_again_when_their_source_asks) {
  source_windows windows;
  windows.on_request(1, 6, 0);
  EXPECT_EQ(windows.clear(0, 0, nobody), (grants{{rank_id(1), 6}}));
  windows.on_next(1, 6);
  EXPECT_TRUE(windows.empty());
  windows.on_request(1, 9, 4);
  EXPECT_EQ(windows.clear(0, 0, nobody), (grants{{rank_id(1), 9}}));
}

TEST(source_windows, what_goes_back_is_not_on_its_way_any_more) {
  source_windows windows;
  windows.on_request(1, 30, 20);
  ASSERT_EQ(windows.clear(0, 0, nobody).size(), 1U);
  windows.on_next(1, 10);
  EXPECT_EQ(windows.in_flight(), 0U);
  EXPECT_EQ(windows.clear(0, 0, nobody), (grants{{rank_id(1), 18}}));
}

TEST(source_windows, numbers_wrap) {
  source_windows windows;
  const std::uint32_t last = 0xfffffffe;
  windows.on_request(1, 3, last);
  EXPECT_EQ(windows.clear(0, 0, nobody), (grants{{rank_id(1), 3}}));
  EXPECT_EQ(windows.in_flight(), 5U);
  windows.on_next(1, 3);
  EXPECT_TRUE(windows.empty());
}

TEST(source_windows, they_travel_in_packed_form_and_forged_ones_are_refused) {
  source_windows previous;
  for (const std::uint32_t rank : {1U, 3U}) previous.on_request(rank, 1000, 0);
  ASSERT_EQ(previous.clear(0, 0, nobody).size(), 2U);
  previous.on_departure(50);
  auto restored = unpack<source_windows>(pack(previous));
  ASSERT_TRUE(restored);
  EXPECT_FALSE(restored->sound(3)) << "there is no rank 3";
  EXPECT_TRUE(restored->sound(4));
  EXPECT_EQ(restored->in_flight(), previous.in_flight());
  EXPECT_EQ(restored->window(0), 50U);
  EXPECT_EQ(restored->clear(0, 0, nobody), previous.clear(0, 0, nobody));
}

message_header traveller(std::uint32_t source, std::uint32_t sequence, std::uint8_t hops, std::uint8_t flags = 0) {
  message_header header;
  header.kind = message_kind::object;
  header.source = source;
  header.sequence = sequence;
  header.hops = hops;
  header.flags = flags;
  return header;
}

TEST(baggage, what_has_not_travelled_goes_along_however_much_it_is) {
  baggage taken(0);
  for (std::uint32_t number = 0; number < 1000; ++number) {
    EXPECT_TRUE(taken.takes(traveller(1, number, 0), waits::ready));
  }
  EXPECT_TRUE(taken.cut().empty());
}

TEST(baggage, of_what_has_travelled_as_much_goes_along_as_the_object_is_going_to_run) {
  baggage taken(100);
  std::uint32_t along = 0;
  for (std::uint32_t number = 0; number < 1000; ++number) {
    along += taken.takes(traveller(1, number, 1), waits::ready) ? 1 : 0;
  }
  EXPECT_EQ(along, 200U);
  EXPECT_EQ(taken.cut().at(1), 200U);
}

TEST(baggage, behind_a_message_that_goes_back_none_of_its_stream_goes_along) {
  baggage taken(0);
  for (std::uint32_t number = 0; number < baggage::first_min; ++number) {
    EXPECT_TRUE(taken.takes(traveller(1, number, 7), waits::ready));
  }
  EXPECT_FALSE(taken.takes(traveller(1, 10, 7), waits::ready));
  EXPECT_FALSE(taken.takes(traveller(1, 11, 0), waits::ready));
  EXPECT_TRUE(taken.takes(traveller(2, 11, 0), waits::ready)) << "another stream";
  EXPECT_TRUE(taken.takes(traveller(1, 13, 0), waits::early)) << "it has no place in its stream yet";
  EXPECT_EQ(taken.cut().at(1), 10U);
}

TEST(baggage, what_was_cleared_goes_along_only_among_the_first) {
  baggage taken(0);
  for (std::uint32_t number = 0; number < baggage::first_min; ++number) {
    EXPECT_TRUE(taken.takes(traveller(1, number, 0, flag_granted), waits::ready));
  }
  EXPECT_FALSE(taken.takes(traveller(1, 4, 0, flag_granted), waits::ready));
}

TEST(baggage, a_claim_goes_along_whatever_waits) {
  baggage taken(0);
  message_header claim = traveller(1, 0, 9);
  claim.kind = message_kind::claim;
  for (int time = 0; time < 100; ++time) EXPECT_TRUE(taken.takes(claim, waits::ready));
}

TEST(baggage, a_message_of_an_image_goes_along_because_no_source_knows_it) {
  baggage taken(0);
  for (std::uint32_t number = 0; number < baggage::first_min; ++number)
    EXPECT_TRUE(taken.takes(traveller(1, number, 7), waits::ready));
  EXPECT_FALSE(taken.takes(traveller(1, 10, 7), waits::ready));
  for (int time = 0; time < 100; ++time) EXPECT_TRUE(taken.takes(traveller(1, 0, 7, flag_restored), waits::ready));
}

}  // namespace
}  // namespace nacre
