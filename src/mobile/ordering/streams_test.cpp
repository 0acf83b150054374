// SPDX-License-Identifier: Apache-2.0
// The promises of streams, each as a sentence.
#include "mobile/ordering/streams.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/rng.hpp"

namespace nacre {
namespace {

message_ptr numbered(std::uint32_t source, std::uint32_t sequence) {
  message_ptr m = make_message(0);
  m->header.source = source;
  m->header.sequence = sequence;
  return m;
}

streams::verdict offer(streams& order, message_list& ready, std::uint32_t source, std::uint32_t sequence) {
  message_ptr m = numbered(source, sequence);
  return order.admit(m, ready);
}

std::vector<std::uint32_t> sequences(message_list& ready) {
  std::vector<std::uint32_t> found;
  while (const message_ptr m = ready.pop_front()) found.push_back(m->header.sequence);
  return found;
}

TEST(streams, a_message_that_comes_too_early_waits_for_those_before_it) {
  streams order;
  message_list ready;
  EXPECT_EQ(offer(order, ready, 3, 2), streams::verdict::early);
  EXPECT_EQ(offer(order, ready, 3, 1), streams::verdict::early);
  EXPECT_TRUE(ready.empty());
  EXPECT_EQ(order.early_count(), 2U);
  EXPECT_EQ(offer(order, ready, 3, 0), streams::verdict::admitted);
  EXPECT_EQ(sequences(ready), (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_EQ(order.early_count(), 0U);
}

TEST(streams, the_streams_of_two_ranks_do_not_wait_for_each_other) {
  streams order;
  message_list ready;
  EXPECT_EQ(offer(order, ready, 1, 1), streams::verdict::early);
  EXPECT_EQ(offer(order, ready, 2, 0), streams::verdict::admitted);
  EXPECT_EQ(offer(order, ready, 0, 0), streams::verdict::admitted);
  EXPECT_EQ(order.early_count(), 1U);
}

TEST(streams, a_number_that_has_run_is_refused_and_stays_with_the_caller) {
  streams order;
  message_list ready;
  ASSERT_EQ(offer(order, ready, 1, 0), streams::verdict::admitted);
  message_ptr again = numbered(1, 0);
  EXPECT_EQ(order.admit(again, ready), streams::verdict::repeated);
  EXPECT_NE(again, nullptr);
  EXPECT_EQ(ready.size(), 1U);
}

TEST(streams, any_shuffle_of_many_streams_comes_out_in_order) {
  constexpr std::uint32_t sources = 5, length = 40;
  rng random(11);
  for (int round = 0; round < 50; ++round) {
    std::vector<message_ptr> all;
    for (std::uint32_t source = 0; source < sources; ++source) {
      for (std::uint32_t sequence = 0; sequence < length; ++sequence) all.push_back(numbered(source, sequence));
    }
    for (std::size_t left = all.size(); left > 1; --left) std::swap(all[left - 1], all[random.below(left)]);
    streams order;
    message_list ready;
    for (message_ptr& m : all) ASSERT_NE(order.admit(m, ready), streams::verdict::repeated);
    ASSERT_EQ(ready.size(), std::size_t{sources * length});
    std::vector<std::uint32_t> next(sources, 0);
    while (const message_ptr m = ready.pop_front()) ASSERT_EQ(m->header.sequence, next[m->header.source]++);
  }
}

TEST(streams, what_is_expected_travels_in_packed_form) {
  streams before;
  message_list ready;
  ASSERT_EQ(offer(before, ready, 7, 0), streams::verdict::admitted);
  before.note_told(rank_id(7), 5);
  auto after = unpack<streams>(pack(before));
  ASSERT_TRUE(after);
  EXPECT_EQ(after->told_epoch(rank_id(7)), 5U);
  EXPECT_EQ(after->told_epoch(rank_id(8)), 0U);
  EXPECT_EQ(offer(*after, ready, 7, 0), streams::verdict::repeated);
  EXPECT_EQ(offer(*after, ready, 7, 1), streams::verdict::admitted);
}

TEST(streams, early_messages_can_be_taken_away_all_at_once) {
  streams order;
  message_list ready, taken;
  ASSERT_EQ(offer(order, ready, 1, 4), streams::verdict::early);
  ASSERT_EQ(offer(order, ready, 2, 1), streams::verdict::early);
  order.take_early(taken);
  EXPECT_EQ(taken.size(), 2U);
  EXPECT_EQ(order.early_count(), 0U);
}

}  // namespace
}  // namespace nacre
