// SPDX-License-Identifier: Apache-2.0
// The promises of streams, each as a sentence.
#include <nacre/rng.hpp>

#include "mobile/ordering/streams.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace nacre {
namespace {

message_ptr streamed(std::uint32_t source, std::uint32_t sequence) {
  message_ptr m = make_message(0);
  m->header.source = source;
  m->header.sequence = sequence;
  return m;
}

streams::verdict offer(streams& order, message_list& ready, std::uint32_t source, std::uint32_t sequence) {
  message_ptr m = streamed(source, sequence);
  return order.admit(m, ready);
}

std::vector<std::uint32_t> sequences(message_list& ready) {
  std::vector<std::uint32_t> values;
  while (const message_ptr m = ready.pop_front()) values.push_back(m->header.sequence);
  return values;
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

TEST(streams, numbers_wrap) {
  constexpr std::uint32_t end = ~std::uint32_t{0};
  streams order;
  order.roll_back(3, end - 1);
  message_list ready;
  EXPECT_EQ(offer(order, ready, 3, 1), streams::verdict::early);
  EXPECT_EQ(offer(order, ready, 3, end), streams::verdict::early);
  EXPECT_EQ(offer(order, ready, 3, 0), streams::verdict::early);
  EXPECT_EQ(offer(order, ready, 3, end - 1), streams::verdict::admitted);
  EXPECT_EQ(sequences(ready), (std::vector<std::uint32_t>{end - 1, end, 0, 1}));
  EXPECT_EQ(offer(order, ready, 3, end), streams::verdict::repeated);
  EXPECT_TRUE(order.admit_next(streamed(3, 2)->header));
  EXPECT_EQ(order.next_of(3), 3U);
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
  message_ptr again = streamed(1, 0);
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
      for (std::uint32_t sequence = 0; sequence < length; ++sequence) all.push_back(streamed(source, sequence));
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
  streams previous;
  message_list ready;
  ASSERT_EQ(offer(previous, ready, 7, 0), streams::verdict::admitted);
  previous.note_told(rank_id(7), 5);
  auto restored = unpack<streams>(pack(previous));
  ASSERT_TRUE(restored);
  EXPECT_EQ(restored->told_epoch(rank_id(7)), 5U);
  EXPECT_EQ(restored->told_epoch(rank_id(8)), 0U);
  EXPECT_EQ(offer(*restored, ready, 7, 0), streams::verdict::repeated);
  EXPECT_EQ(offer(*restored, ready, 7, 1), streams::verdict::admitted);
}

TEST(streams, a_number_that_has_been_set_aside_is_refused_when_it_comes_again) {
  streams order;
  message_list ready;
  ASSERT_EQ(offer(order, ready, 1, 2), streams::verdict::early);
  message_ptr again = streamed(1, 2);
  EXPECT_EQ(order.admit(again, ready), streams::verdict::repeated);
  EXPECT_NE(again, nullptr);
  EXPECT_EQ(order.early_count(), 1U);
}

/// Steps for each message when `sources` streams of `length` messages come in an order that `place` gives: it returns
/// the number of the i-th message of a stream. All must be admitted in the end.
template <class Place>
double steps_a_message(std::uint32_t sources, std::uint32_t length, const Place& place) {
  streams order;
  message_list ready;
  for (std::uint32_t i = 0; i < length; ++i) {
    for (std::uint32_t source = 0; source < sources; ++source) {
      message_ptr m = streamed(source, place(i, length));
      EXPECT_NE(order.admit(m, ready), streams::verdict::repeated);
    }
  }
  EXPECT_EQ(ready.size(), std::size_t{sources} * length);
  EXPECT_EQ(order.early_count(), 0U);
  return static_cast<double>(order.steps()) / (static_cast<double>(sources) * length);
}

TEST(streams, an_early_message_takes_a_few_steps_however_many_there_are_and_in_whatever_order) {
  constexpr double few = 10;
  const auto last_first = [](std::uint32_t i, std::uint32_t length) { return length - 1 - i; };
  const auto first_last = [](std::uint32_t i, std::uint32_t length) { return (i + 1) % length; };
  const auto strides = [](std::uint32_t i, std::uint32_t length) {  // numbers 256 apart come one after the other
    constexpr std::uint32_t stride = 256;
    const std::uint32_t count = length / stride;
    return i < count * stride ? length - 1 - (i % count * stride + i / count) : length - 1 - i;
  };
  for (const std::uint32_t length : {1'000U, 10'000U, 100'000U}) {
    EXPECT_LT(steps_a_message(1, length, last_first), few) << length;
    EXPECT_LT(steps_a_message(1, length, first_last), few) << length;
    EXPECT_LT(steps_a_message(1, length, strides), few) << length;
    EXPECT_LT(steps_a_message(100, length / 100, last_first), few) << length;
    EXPECT_LT(steps_a_message(length / 10, 10, last_first), few) << length;
  }
  EXPECT_LT(steps_a_message(1, 1'000'000, last_first), few);
}

TEST(streams, many_ranks_are_found_in_a_few_steps_each_and_travel) {
  constexpr std::uint32_t sources = 100'000;
  streams previous;
  message_list ready;
  for (std::uint32_t source = sources; source-- != 0;) {
    ASSERT_EQ(offer(previous, ready, source * 64, 0), streams::verdict::admitted);
  }
  EXPECT_LT(previous.steps(), 12U * sources);
  auto restored = unpack<streams>(pack(previous));
  ASSERT_TRUE(restored);
  EXPECT_TRUE(restored->sound(sources * 64));
  EXPECT_FALSE(restored->sound(sources * 64 - 64)) << "one of them is no rank of that job";
  for (std::uint32_t source = 0; source < sources; ++source) {
    ASSERT_EQ(offer(*restored, ready, source * 64, 1), streams::verdict::admitted);
  }
  EXPECT_LT(restored->steps(), 12U * sources);
  const std::vector<rank_id> all = restored->sources();
  EXPECT_EQ(all.size(), sources);
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
}

TEST(stream_table, what_names_a_rank_twice_is_not_sound) {
  for (const std::uint32_t ranks : {3U, 100U}) {
    std::vector<stream> all;
    for (std::uint32_t source = 0; source < ranks; ++source) all.push_back({source, 1, 0});
    EXPECT_TRUE(unpack<stream_table>(pack(all))->sound(ranks, ranks));
    EXPECT_FALSE(unpack<stream_table>(pack(all))->sound(ranks, 1)) << "it has a place of its own";
    all.back().source = 0;
    EXPECT_FALSE(unpack<stream_table>(pack(all))->sound(ranks, ranks));
  }
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
