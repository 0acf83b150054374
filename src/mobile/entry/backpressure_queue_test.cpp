// SPDX-License-Identifier: Apache-2.0
// The promises of backpressure_queue, each as a sentence.
#include "mobile/entry/backpressure_queue.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace nacre {
namespace {

struct release {
  void operator()(backpressure_queue* backpressure) const noexcept { backpressure->release_reference(); }
};
using kept_ptr = std::unique_ptr<backpressure_queue, release>;

kept_ptr fresh() {
  return kept_ptr(new backpressure_queue([](work&, thread_context&) {}));
}

message_ptr numbered_kept(std::uint32_t source, std::uint32_t sequence) {
  message_ptr m = make_message(0);
  m->header.source = source;
  m->header.sequence = sequence;
  return m;
}

TEST(backpressure_queue, only_the_first_asks_for_an_item_and_all_come_out_in_order) {
  const kept_ptr backpressure = fresh();
  EXPECT_TRUE(backpressure->push(numbered_kept(0, 0)));
  EXPECT_FALSE(backpressure->push(numbered_kept(0, 1)));
  EXPECT_EQ(backpressure->take()->header.sequence, 0U);
  EXPECT_FALSE(backpressure->push(numbered_kept(0, 2))) << "the item is there while it runs";
  EXPECT_EQ(backpressure->take()->header.sequence, 1U);
  EXPECT_EQ(backpressure->take()->header.sequence, 2U);
  EXPECT_EQ(backpressure->take(), nullptr);
  EXPECT_TRUE(backpressure->finish());
  EXPECT_TRUE(backpressure->push(numbered_kept(0, 3))) << "the next one needs an item again";
}

TEST(backpressure_queue, what_need_not_wait_goes_behind_what_waits_and_else_stays_with_the_caller) {
  const kept_ptr backpressure = fresh();
  message_ptr m = numbered_kept(0, 1);
  EXPECT_FALSE(backpressure->push_behind(m));
  EXPECT_NE(m, nullptr);
  ASSERT_TRUE(backpressure->push(numbered_kept(0, 0)));
  EXPECT_TRUE(backpressure->push_behind(m));
  EXPECT_EQ(m, nullptr);
  EXPECT_EQ(backpressure->take()->header.sequence, 0U);
  EXPECT_FALSE(backpressure->finish()) << "one is left of those that have been taken over";
  EXPECT_EQ(backpressure->take()->header.sequence, 1U);
  EXPECT_TRUE(backpressure->finish());
}

TEST(backpressure_queue, none_is_lost_or_overtaken_while_several_threads_push_and_the_item_runs) {
  constexpr std::uint32_t threads = 3, each = 20'000;
  const kept_ptr backpressure = fresh();
  std::atomic<std::uint32_t> items{0};  // 0 or 1: the item is ready
  std::vector<std::thread> pushing;
  for (std::uint32_t thread = 0; thread < threads; ++thread) {
    pushing.emplace_back([&, thread] {
      for (std::uint32_t number = 0; number < each; ++number) {
        message_ptr m = numbered_kept(thread, number);
        if (number % 3 == 0 && backpressure->push_behind(m)) continue;
        if (backpressure->push(std::move(m))) items.fetch_add(1);
      }
    });
  }
  std::array<std::uint32_t, threads> next{};
  for (std::uint32_t seen = 0; seen < threads * each;) {
    if (items.load() == 0) {
      std::this_thread::yield();
      continue;
    }
    ASSERT_EQ(items.load(), 1U) << "there is one item at a time";
    for (int count = 0; count < 64; ++count) {
      const message_ptr m = backpressure->take();
      if (m == nullptr) break;
      ASSERT_EQ(m->header.sequence, next.at(m->header.source)++);
      ++seen;
    }
    items.fetch_sub(1);  // before any thread can make it ready anew
    if (!backpressure->finish()) items.fetch_add(1);
  }
  for (std::thread& one : pushing) one.join();
}

}  // namespace
}  // namespace nacre
