// SPDX-License-Identifier: Apache-2.0
// The promises of ws_deque, each as a sentence.
#include <nacre/rng.hpp>

#include "base/ws_deque.hpp"

#include <sched.h>

#include <array>
#include <atomic>
#include <latch>
#include <numeric>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/spin.hpp"

namespace nacre {
namespace {

TEST(ws_deque, the_owner_takes_the_newest_and_a_thief_the_oldest) {
  std::array<int, 3> items{};
  ws_deque<int> deque;
  for (int& item : items) deque.push(&item);
  EXPECT_EQ(deque.size_estimate(), 3U);
  EXPECT_EQ(deque.take_oldest(), &items[0]);
  EXPECT_EQ(deque.take_newest(), &items[2]);
  EXPECT_EQ(deque.take_newest(), &items[1]);
  EXPECT_EQ(deque.size_estimate(), 0U);
}

TEST(ws_deque, an_empty_deque_says_so_and_stays_usable) {
  ws_deque<int> deque;
  int item = 0;
  int* match = &item;
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(deque.take_newest(), nullptr);
    EXPECT_EQ(deque.take_oldest(), nullptr);
    EXPECT_EQ(deque.take_oldest(match), steal_result::empty);
    EXPECT_EQ(match, &item) << "untouched";
    EXPECT_TRUE(deque.empty());
    deque.push(&item);
    EXPECT_FALSE(deque.empty());
    EXPECT_EQ(deque.take_oldest(match), steal_result::taken);
    deque.push(&item);
    EXPECT_EQ(deque.take_newest(), &item);
  }
}

TEST(ws_deque, grows_in_any_position_without_losing_or_reordering) {
  std::vector<int> items(1000);
  ws_deque<int> deque(2);
  std::size_t pushed = 0;
  std::size_t taken = 0;
  rng random(11);
  while (taken < items.size()) {  // used as a queue: the ring wraps at different places
    if (pushed < items.size() && random.below(3) != 0) {
      deque.push(&items[pushed++]);
    } else if (pushed > taken) {
      ASSERT_EQ(deque.take_oldest(), &items[taken++]);
    }
  }
  EXPECT_EQ(deque.take_newest(), nullptr);
}

/// Items that count how often they are taken; the owner is the test's own thread, thieves run beside it.
class ws_deque_race : public testing::Test {
 protected:
  static constexpr std::size_t thieves = 3;
  static constexpr std::size_t count = 30000;

  struct item {
    int payload = 0;  // not atomic: the deque must publish it
    std::atomic<int> taken{0};
  };

  void start_thieves() {
    for (std::thread& thread : threads_) {
      thread = std::thread([this] {
        ready_.arrive_and_wait();
        backoff waiting;
        while (!done_.load()) {
          if (item* const item = deque_.take_oldest()) {
            take(*item);
            stolen_.fetch_add(1, std::memory_order_relaxed);  // relaxed: the deque itself must order the accesses
            waiting.reset();
          } else {
            waiting.pause();
          }
        }
      });
    }
    ready_.arrive_and_wait();
  }
  /// Now and then waits until a thief has taken an item, so that the race takes place on every machine.
  void push(std::size_t index) {
    const std::size_t stolen = stolen_.load(std::memory_order_relaxed);  // as in the thieves
    items_[index].payload = static_cast<int>(index);
    deque_.push(&items_[index]);
    if (index % 1000 == 1) {
      while (stolen_.load(std::memory_order_relaxed) == stolen) sched_yield();  // as in the thieves
    }
  }
  void take(item& one) {
    sum_.fetch_add(one.payload, std::memory_order_relaxed);  // as in the thieves
    one.taken.fetch_add(1, std::memory_order_relaxed);       // as in the thieves
  }
  void finish() {
    EXPECT_GT(stolen_.load(), 0U);
    while (item* const left = deque_.take_newest()) take(*left);
    done_.store(true);
    for (std::thread& thread : threads_) thread.join();
    for (const item& one : items_) ASSERT_EQ(one.taken.load(), 1) << &one - items_.data();
    EXPECT_EQ(sum_.load(), static_cast<long>(count) * (count - 1) / 2);
  }

  std::vector<item> items_ = std::vector<item>(count);
  ws_deque<item> deque_{2};
  std::array<std::thread, thieves> threads_;
  std::latch ready_{thieves + 1};
  std::atomic<std::size_t> stolen_{0};
  std::atomic<bool> done_{false};
  std::atomic<long> sum_{0};
};

TEST_F(ws_deque_race, every_element_is_taken_once_while_the_deque_grows_and_shrinks) {
  start_thieves();
  rng random(3);
  for (std::size_t next = 0; next < count;) {
    for (std::uint64_t burst = random.below(200); burst > 0 && next < count; --burst) push(next++);
    for (std::uint64_t burst = random.below(200); burst > 0; --burst) {
      if (item* const item = deque_.take_newest()) take(*item);
    }
  }
  finish();
}

TEST_F(ws_deque_race, the_last_element_goes_either_to_the_owner_or_to_one_thief) {
  start_thieves();
  for (std::size_t next = 0; next < count; ++next) {
    push(next);
    if (item* const item = deque_.take_newest()) take(*item);
  }
  finish();
}

TEST_F(ws_deque_race, the_owner_may_compete_for_the_oldest_too) {
  start_thieves();
  for (std::size_t next = 0; next < count; ++next) {
    push(next);
    if (next % 2 == 0) continue;
    if (item* const item = deque_.take_oldest()) take(*item);
    if (item* const item = deque_.take_newest()) take(*item);
  }
  finish();
}

}  // namespace
}  // namespace nacre
