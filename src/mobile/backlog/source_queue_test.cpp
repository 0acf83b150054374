// SPDX-License-Identifier: Apache-2.0
// The promises of source_queue and source_queues, each as a sentence.
#include "mobile/backlog/source_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <random>
#include <thread>
#include <vector>

#include "mobile/backlog/source_queues.hpp"

namespace nacre {
namespace {

message_ptr numbered(std::uint32_t sequence) {
  message_ptr m = make_message(0);
  m->header.sequence = sequence;
  return m;
}

std::vector<std::uint32_t> cleared(source_queue& queue) {
  std::vector<std::uint32_t> values;
  while (const message_ptr m = queue.take()) values.push_back(m->header.sequence);
  return values;
}

TEST(source_queue, gives_in_sequence_what_is_cleared_in_whatever_order_it_came) {
  source_queue queue;
  for (const std::uint32_t number : {7U, 3U, 5U, 4U, 6U}) queue.put(numbered(number));
  EXPECT_TRUE(cleared(queue).empty());
  EXPECT_EQ(queue.ask(8), 8U);
  EXPECT_EQ(queue.ask(8), std::nullopt) << "one question at a time";
  queue.clear(6);
  EXPECT_EQ(cleared(queue), (std::vector<std::uint32_t>{3, 4, 5}));
  EXPECT_EQ(queue.ask(9), std::nullopt) << "the object knows of all up to 8";
  EXPECT_FALSE(queue.over());
}

TEST(source_queue, gives_each_message_once_and_in_sequence_for_any_mixture_of_coming_and_clearing) {
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    std::mt19937 random(seed);
    const std::uint32_t begin = seed % 2 == 0 ? 0 : ~std::uint32_t{0} - 40;  // numbers that wrap
    source_queue queue;
    std::vector<std::uint32_t> came, gone;  // as distances from begin
    std::uint32_t next = 0, limit = 0;
    while (next < 100) {
      const std::uint32_t run = random() % 8;  // some in sequence, then a few in any order
      std::vector<std::uint32_t> some;
      for (std::uint32_t each = 0; each < run; ++each) some.push_back(next++);
      if (random() % 2 == 0) std::shuffle(some.begin(), some.end(), random);
      for (const std::uint32_t each : some) {
        queue.put(numbered(begin + each));
        came.push_back(each);
      }
      limit += random() % 10;
      limit = std::min(limit, next);  // those before it have come
      queue.clear(begin + limit);
      for (const std::uint32_t each : cleared(queue)) gone.push_back(each - begin);
    }
    std::sort(came.begin(), came.end());
    ASSERT_EQ(gone, std::vector<std::uint32_t>(came.begin(), came.begin() + limit)) << "seed " << seed;
    message_list rest = queue.take_all();
    while (const message_ptr m = rest.pop_front()) gone.push_back(m->header.sequence - begin);
    ASSERT_EQ(gone, came) << "seed " << seed;
  }
}

TEST(source_queue, asks_again_when_all_that_it_had_told_of_is_cleared) {
  source_queue queue;
  queue.put(numbered(0));
  EXPECT_EQ(queue.ask(1), 1U);
  queue.put(numbered(1));
  queue.put(numbered(2));
  queue.clear(1);
  EXPECT_EQ(cleared(queue), (std::vector<std::uint32_t>{0}));
  EXPECT_EQ(queue.ask(3), 3U);
  queue.clear(3);
  EXPECT_EQ(cleared(queue), (std::vector<std::uint32_t>{1, 2}));
  EXPECT_TRUE(queue.over());
}

TEST(source_queue, is_not_over_while_the_object_will_clear_more) {
  source_queue queue;
  queue.put(numbered(0));
  EXPECT_EQ(queue.ask(10), 10U) << "1 to 9 are on their way";
  queue.clear(4);
  EXPECT_EQ(cleared(queue).size(), 1U);
  EXPECT_FALSE(queue.over());
  EXPECT_TRUE(queue.is_cleared(3)) << "one that comes back late is sent again at once";
  EXPECT_FALSE(queue.is_cleared(4));
  queue.clear(10);
  EXPECT_TRUE(queue.over());
}

TEST(source_queue, an_older_clearance_takes_nothing_back_and_numbers_wrap) {
  source_queue queue;
  queue.put(numbered(0xffffffff));
  queue.put(numbered(2));
  EXPECT_EQ(queue.ask(3), 3U);
  queue.clear(1);
  queue.clear(0xfffffff0);
  EXPECT_TRUE(queue.is_cleared(0));
  EXPECT_EQ(cleared(queue), (std::vector<std::uint32_t>{0xffffffff}));
  message_list all = queue.take_all();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all.front()->header.sequence, 2U);
}

TEST(source_queues, a_queue_begins_when_it_is_asked_for_and_ends_when_it_is_over) {
  source_queues all;
  const object_id id(rank_id(1), 7);
  std::atomic<std::uint32_t> numbers{1};
  const auto ignore = [](message&) {};
  source_queues::outcome next;
  message_ptr m = numbered(0);
  EXPECT_FALSE(all.put(id, m, false, numbers, ignore, next));
  EXPECT_NE(m, nullptr) << "it stays with the caller";
  EXPECT_FALSE(all.any());
  EXPECT_TRUE(all.put(id, m, true, numbers, ignore, next));
  EXPECT_TRUE(all.any());
  EXPECT_EQ(next.ask, 1U);
  source_queues::outcome then;
  EXPECT_TRUE(all.clear(id, 1, numbers, then));
  EXPECT_EQ(then.send.size(), 1U);
  EXPECT_FALSE(all.any());
  EXPECT_TRUE(all.clear(id, 1, numbers, then));
  EXPECT_EQ(then.ask, std::nullopt) << "a clearance for nobody is nothing";
}

TEST(source_queues, nothing_waits_any_more_when_all_that_the_object_was_told_of_is_cleared) {
  source_queues all;
  const object_id id(rank_id(1), 7);
  std::atomic<std::uint32_t> numbers{2};
  source_queues::outcome next;
  message_ptr m = numbered(1);
  ASSERT_TRUE(all.put(
      id, m, true, numbers, [](message&) {}, next));
  EXPECT_FALSE(all.clear(id, 1, numbers, next)) << "one waits";
  EXPECT_TRUE(next.send.empty());
  EXPECT_TRUE(all.clear(id, 2, numbers, next));
  EXPECT_EQ(next.send.size(), 1U);
}

TEST(source_queues, a_queue_that_is_empty_stays_while_the_object_will_clear_more_of_what_it_was_told_of) {
  source_queues all;
  const object_id id(rank_id(1), 7);
  std::atomic<std::uint32_t> numbers{10};
  source_queues::outcome next;
  message_ptr first = numbered(0), late = numbered(3);
  const auto ignore = [](message&) {};
  ASSERT_TRUE(all.put(id, first, true, numbers, ignore, next));
  EXPECT_EQ(next.ask, 10U);
  EXPECT_FALSE(all.clear(id, 4, numbers, next)) << "4 to 9 are on their way, and may come back";
  EXPECT_EQ(next.send.size(), 1U);
  EXPECT_TRUE(all.put(id, late, false, numbers, ignore, next)) << "there is a queue still";
  EXPECT_EQ(next.send.size(), 2U) << "its number is cleared";
  EXPECT_TRUE(all.clear(id, 10, numbers, next));
  EXPECT_FALSE(all.any());
}

TEST(source_queues, what_many_threads_put_is_cleared_once_each_or_dropped) {
  constexpr std::uint32_t threads = 4, each = 2000;
  source_queues all;
  const object_id id(rank_id(1), 7);
  std::atomic<std::uint32_t> numbers{0}, sent{0};
  std::vector<std::thread> senders;
  for (std::uint32_t index = 0; index < threads; ++index) {
    senders.emplace_back([&] {
      for (std::uint32_t count = 0; count < each; ++count) {
        message_ptr m = numbered(numbers.fetch_add(1));
        source_queues::outcome next;
        ASSERT_TRUE(all.put(
            id, m, true, numbers, [](message&) {}, next));
        sent += static_cast<std::uint32_t>(next.send.size());
      }
    });
  }
  for (std::uint32_t limit = 1; limit < threads * each / 2; limit += 7) {
    source_queues::outcome next;
    static_cast<void>(all.clear(id, limit, numbers, next));
    sent += static_cast<std::uint32_t>(next.send.size());
  }
  for (std::thread& sender : senders) sender.join();
  EXPECT_EQ(sent + all.drop(id).size(), threads * each);
  EXPECT_FALSE(all.any());
}

}  // namespace
}  // namespace nacre
