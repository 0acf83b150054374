// SPDX-License-Identifier: Apache-2.0
// An aggregator sends every message once, in the order of its thread, in bundles that need credit as their parts
// do.
#include <nacre/rng.hpp>

#include "am/aggregator.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "am/bundle.hpp"
#include "exec/thread_pool_test_kit.hpp"

namespace nacre {
namespace {

constexpr std::uint64_t for_ever = ~std::uint64_t{0};

message_ptr numbered(std::uint32_t number, std::size_t payload_bytes, message_kind kind = message_kind::rank) {
  message_ptr m = make_message(payload_bytes);
  m->header.kind = kind;
  m->header.channel = channel::application;
  m->header.sequence = number;
  std::memset(m->body(), static_cast<int>(number), payload_bytes);
  return m;
}

/// Rank 0; its application sends to rank 1 by way of an aggregator. The test is rank 1.
class collected : public testing::Test {
 protected:
  void append(message_ptr m) { under_test.append(rank_id(1), std::move(m)); }
  void flush() { under_test.flush(thread); }

  /// Takes the arrived messages, the parts of a bundle one by one.
  void receive() {
    message_list all;
    rank.plane.progress(thread);
    while (rank.peer->poll(all, 1000)) continue;
    while (const message_ptr m = all.pop_front()) {
      if (m->header.kind != message_kind::bundle) {
        numbers.push_back(m->header.sequence);
        continue;
      }
      ++bundles;
      const std::span<const std::byte> bytes = m->payload();
      for (std::size_t offset = 0; offset < bytes.size();) {
        bundle::part part;
        ASSERT_TRUE(bundle::read_part(bytes, offset, {.sender = 0, .ranks = 2}, part));
        EXPECT_EQ(needs_credit(part.header), needs_credit(m->header))
            << "a bundle is metered at its receiver otherwise than its parts";
        for (const std::byte each : part.payload) EXPECT_EQ(each, static_cast<std::byte>(part.header.sequence));
        numbers.push_back(part.header.sequence);
      }
    }
  }
  void expect_numbers_up_to(std::uint32_t count) {
    ASSERT_EQ(numbers.size(), count) << "messages are lost or doubled";
    for (std::uint32_t number = 0; number < count; ++number) {
      ASSERT_EQ(numbers[number], number) << "a message has overtaken another one of its thread";
    }
  }

  exec_test::threaded_rank rank{exec_test::setting{}};
  thread_context& thread = rank.pool.application();
  aggregator under_test{thread, rank.plane, {.bytes_max = 8192, .bound_ticks = for_ever}};
  std::vector<std::uint32_t> numbers;
  std::size_t bundles = 0;
};

TEST_F(collected, messages_of_every_length_leave_once_and_in_order) {
  rng random(5);
  std::uint32_t count = 0;
  for (int round = 0; round < 400; ++round) {
    for (std::uint64_t left = random.below(30); left > 0; --left) {
      const std::uint64_t length = random.below(10) == 0 ? random.below(20'000) : random.below(100);
      append(numbered(count++, length));
    }
    switch (random.below(3)) {
      case 0:
        flush();  // by the poll loop
        break;
      case 1:
        if (under_test.since() != 0) flush();
        thread.flush();  // begins another round
        break;
      default:
        break;
    }
    receive();
  }
  flush();
  receive();
  expect_numbers_up_to(count);
  EXPECT_GT(bundles, 100U) << "nothing travels together";
}

TEST_F(collected, the_first_message_of_a_round_leaves_at_once_and_those_behind_it_wait) {
  const auto seconds = static_cast<std::uint64_t>(100 / thread.pool().seconds_a_tick());
  aggregator others{thread, rank.plane, {.bytes_max = 8192, .bound_ticks = seconds}};
  for (aggregator* const each : {&under_test, &others}) {
    for (std::uint32_t first = 0; first < 9; first += 3) {
      numbers.clear();
      for (std::uint32_t number = first; number < first + 3; ++number) each->append(rank_id(1), numbered(number, 8));
      receive();
      EXPECT_EQ(numbers, std::vector<std::uint32_t>{first});
      each->flush(thread);
      receive();
      EXPECT_EQ(numbers, (std::vector<std::uint32_t>{first, first + 1, first + 2}));
      thread.flush();
    }
  }
}

/// A thread that appends is asked to flush; what one does not append to any more leaves after the bound again.
TEST_F(collected, overdue_messages_leave_with_the_next_one_of_their_thread_or_are_taken_from_it) {
  const auto bound = static_cast<std::uint64_t>(0.1 / thread.pool().seconds_a_tick());
  aggregator busy{thread, rank.plane, {.bytes_max = 8192, .bound_ticks = bound}};
  thread_context& poll_loop = rank.pool.progress_thread();
  EXPECT_EQ(busy.flush_overdue(poll_loop), 0U) << "nothing is held";
  const auto wait_for_bound = [&] {
    for (const std::uint64_t begin = thread.pool().instant(); thread.pool().instant() - begin <= bound;) {
      std::this_thread::yield();
    }
  };
  std::uint32_t count = 0;
  const auto hold_two = [&] {
    thread.flush();
    receive();  // what an attempt that was too late has left
    numbers.clear();
    count = 0;
    while (count < 3) busy.append(rank_id(1), numbered(count++, 8));
    receive();
    EXPECT_EQ(numbers.size(), 1U);
    const std::uint64_t left = busy.flush_overdue(poll_loop);
    EXPECT_TRUE(left > 0 && left <= bound) << "the poll loop comes again when the bound is over";
    wait_for_bound();
  };
  bool asked = false;
  for (int attempts = 0; attempts < 20 && !asked; ++attempts) {  // this thread may sleep for longer
    hold_two();
    asked = busy.flush_overdue(poll_loop) != 0;
  }
  ASSERT_TRUE(asked);
  receive();
  EXPECT_EQ(numbers.size(), 1U) << "the thread may be about to append";
  busy.append(rank_id(1), numbered(count++, 8));
  receive();
  expect_numbers_up_to(4);
  EXPECT_EQ(busy.since(), 0U);

  hold_two();
  wait_for_bound();
  EXPECT_EQ(busy.flush_overdue(poll_loop), 0U);
  receive();
  expect_numbers_up_to(3);
}

TEST_F(collected, bundles_need_credit_as_their_messages_do) {
  for (const message_kind kind : {message_kind::rank, message_kind::reply}) {
    numbers.clear();
    bundles = 0;
    for (std::uint32_t number = 0; number < 10; ++number) append(numbered(number, 8, kind));
    flush();
    receive();
    expect_numbers_up_to(10);
    EXPECT_EQ(bundles, 1U);
  }
}

TEST_F(collected, replies_do_not_wait_behind_messages_that_need_credit) {
  for (std::uint32_t number = 0; number < 10; ++number) append(numbered(number, 8));
  for (std::uint32_t number = 0; number < 10; ++number) append(numbered(100 + number, 8, message_kind::reply));
  flush();
  receive();  // checks that no bundle has both
  EXPECT_EQ(numbers.size(), 20U);
  EXPECT_EQ(bundles, 2U);
}

}  // namespace
}  // namespace nacre
