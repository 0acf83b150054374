// SPDX-License-Identifier: Apache-2.0
// One transfer beside another: their order, replies that come twice, errors, futures that are dropped.
#include "am/memory_transfers.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace nacre {
namespace {

using intent = memory_segments::intent;
using piece = memory_transfers::piece;
using bytes = std::vector<std::byte>;

struct lone_transfer {
  explicit lone_transfer(std::uint64_t size, memory_transfers& memory_transfers, intent intent = intent::write,
                         std::uint64_t piece_bytes = memory_transfers::piece_bytes_max)
      : local_memory(size) {
    state = new memory_transfer({.name = {.rank = 1, .segment = 1, .bytes = size, .key = {}},
                                 .direction = intent,
                                 .offset = 0,
                                 .local_memory = local_memory});
    memory_transfers.start(*state, piece_bytes);
  }
  bytes local_memory;
  memory_transfer* state;
};

TEST(memory_transfers, a_short_transfer_does_not_wait_for_a_long_one) {
  memory_transfers t(memory_transfers::data_path::reply);
  const rank_id target(1);
  lone_transfer tall(100 * memory_transfers::piece_bytes_max, t);
  std::vector<piece> leaving;
  while (const auto p = t.next(target)) leaving.push_back(*p);
  EXPECT_EQ(leaving.size(),
            memory_transfers::window_bytes / (memory_transfers::piece_bytes_max + memory_transfers::piece_cost));
  lone_transfer small(8, t);
  const auto answered = t.take_reply(target, leaving.front().token, memory_status::done, 0);
  ASSERT_TRUE(answered);
  EXPECT_FALSE(t.complete(*answered, memory_status::done));
  const auto first = t.next(target), second = t.next(target);
  ASSERT_TRUE(first && second);
  EXPECT_TRUE(first->transfer == small.state || second->transfer == small.state);
  tall.state->release();
  small.state->release();
}

TEST(memory_transfers, pieces_follow_each_other_whatever_is_answered_meanwhile) {
  memory_transfers t(memory_transfers::data_path::reply);
  const rank_id target(1);
  lone_transfer tall(40 * memory_transfers::piece_bytes_max, t);
  std::vector<piece> leaving;
  std::uint64_t index = 0;
  for (std::size_t answered = 0; index != tall.local_memory.size(); ++answered) {
    while (const auto p = t.next(target)) {
      EXPECT_EQ(p->offset, index);
      index += p->bytes;
      leaving.push_back(*p);
    }
    ASSERT_LT(answered, leaving.size());
    ASSERT_TRUE(t.take_reply(target, leaving[answered].token, memory_status::done, 0));
    EXPECT_FALSE(t.complete(leaving[answered], memory_status::done));
  }
  tall.state->abandon();
}

TEST(memory_transfers, the_window_holds_the_bytes_of_pieces_and_their_cost) {
  constexpr std::uint64_t piece_bytes = 1000;
  memory_transfers t(memory_transfers::data_path::reply);
  lone_transfer tall(memory_transfers::window_bytes * 2, t, intent::write, piece_bytes);
  while (t.next(rank_id(1))) continue;
  EXPECT_EQ(t.in_flight(), memory_transfers::window_bytes / (piece_bytes + memory_transfers::piece_cost));
  tall.state->abandon();
}

TEST(memory_transfers, an_error_ends_a_transfer_whose_other_pieces_have_not_left) {
  memory_transfers t(memory_transfers::data_path::reply);
  const rank_id target(1);
  lone_transfer tall(5 * memory_transfers::piece_bytes_max, t);
  const auto first = t.next(target);
  ASSERT_TRUE(first && t.take_reply(target, first->token, memory_status::withdrawn, 0));
  EXPECT_EQ(t.complete(*first, memory_status::withdrawn), memory_status::withdrawn);
  EXPECT_FALSE(t.next(target));
  EXPECT_TRUE(t.take_dropped().empty());
  tall.state->release();
}

TEST(memory_transfers, a_repeated_reply_finds_nothing_though_its_place_is_used_again) {
  memory_transfers t(memory_transfers::data_path::reply);
  const rank_id target(1);
  lone_transfer tall(5 * memory_transfers::piece_bytes_max, t);
  const auto first = t.next(target);
  ASSERT_TRUE(first && t.take_reply(target, first->token, memory_status::done, 0));
  EXPECT_FALSE(t.complete(*first, memory_status::done));
  const auto second = t.next(target);
  ASSERT_TRUE(second);
  EXPECT_EQ(t.in_flight(), 1U);
  EXPECT_FALSE(t.take_reply(target, first->token, memory_status::done, 0));
  EXPECT_TRUE(t.take_reply(target, second->token, memory_status::done, 0));
  tall.state->abandon();
}

TEST(memory_transfers, an_error_ends_a_transfer_when_its_last_piece_is_answered_and_sends_no_more) {
  memory_transfers t(memory_transfers::data_path::reply);
  const rank_id target(1);
  lone_transfer tall(100 * memory_transfers::piece_bytes_max, t);
  std::vector<piece> leaving;
  while (const auto p = t.next(target)) leaving.push_back(*p);
  for (std::size_t index = 0; index < leaving.size(); ++index) {
    const memory_status status = index == 0 ? memory_status::withdrawn : memory_status::done;
    const auto answered = t.take_reply(target, leaving[index].token, status, 0);
    ASSERT_TRUE(answered);
    const auto range = t.complete(*answered, status);
    EXPECT_FALSE(t.next(target));
    ASSERT_EQ(range.has_value(), index + 1 == leaving.size());
    EXPECT_EQ(range.value_or(memory_status::withdrawn), memory_status::withdrawn);
  }
  EXPECT_EQ(t.open(), 0U);
  tall.state->release();
}

TEST(memory_transfers, a_dropped_future_takes_the_memory_back_and_ends_the_transfer) {
  memory_transfers t(memory_transfers::data_path::reply);
  const rank_id target(1);
  lone_transfer tall(100 * memory_transfers::piece_bytes_max, t);
  lone_transfer transfer(3 * memory_transfers::window_bytes, t);
  const auto first = t.next(target);
  ASSERT_TRUE(first && first->transfer == tall.state);
  memory_transfer* const state = tall.state;
  state->abandon();
  transfer.state->abandon();  // before its first piece
  EXPECT_FALSE(state->with_own_memory([](std::byte*) { FAIL() << "the memory has been taken back"; }));
  EXPECT_FALSE(t.next(target));
  EXPECT_EQ(t.open(), 1U);
  const auto dropped = t.take_dropped();
  ASSERT_EQ(dropped.size(), 1U);
  EXPECT_EQ(dropped.front(), transfer.state);
  const auto answered = t.take_reply(target, first->token, memory_status::done, 0);
  ASSERT_TRUE(answered);
  ASSERT_TRUE(t.complete(*answered, memory_status::done));
  EXPECT_EQ(t.open(), 0U);
}

TEST(memory_transfers, a_transfer_that_ends_while_a_piece_of_it_is_being_sent_is_there_until_it_is) {
  memory_transfers t(memory_transfers::data_path::reply);
  const rank_id target(1);
  lone_transfer brief(8, t);
  const auto leaving = t.next(target);
  ASSERT_TRUE(leaving);
  EXPECT_TRUE(leaving->transfer->with_own_memory([&](const std::byte*) {
    // As another thread of the rank does with a reply that comes before the call that sends it returns.
    const auto answered = t.take_reply(target, leaving->token, memory_status::done, 0);
    ASSERT_TRUE(answered && t.complete(*answered, memory_status::done));
    brief.state->release();
  }));  // gives the lock of the transfer back
  EXPECT_EQ(leaving->transfer->bytes(), 8U);
}

TEST(memory_transfers, a_region_of_a_piece_that_was_answered_early_is_not_noted_for_the_next) {
  memory_transfers t(memory_transfers::data_path::reply);
  const rank_id target(1);
  lone_transfer first(8, t, intent::read), second(8, t, intent::read);
  const auto leaving = t.next(target);
  ASSERT_TRUE(leaving && t.take_reply(target, leaving->token, memory_status::out_of_range, 0));
  const auto next = t.next(target);
  ASSERT_TRUE(next);
  t.note_region(*leaving, {.id = 1, .address = 0});
  EXPECT_TRUE(t.take_reply(target, next->token, memory_status::done, 8)) << "it carries its bytes";
  first.state->release();
  second.state->release();
}

TEST(memory_transfers, what_is_under_way_at_the_end_is_given_back) {
  memory_transfers t(memory_transfers::data_path::reply);
  lone_transfer one(10, t), two(memory_transfers::window_bytes * 2, t, intent::read);
  static_cast<void>(t.next(rank_id(1)));
  one.state->abandon();
  two.state->abandon();  // the rest is the leak checker's
}

}  // namespace
}  // namespace nacre
