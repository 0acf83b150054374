// SPDX-License-Identifier: Apache-2.0
// The fallback poller receives messages while all workers run long items, and only then.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "exec/thread_pool_test_kit.hpp"

namespace nacre::exec_test {
namespace {

class thread_pool_fallback : public testing::TestWithParam<std::uint32_t> {};

INSTANTIATE_TEST_SUITE_P(workers, thread_pool_fallback, testing::Values(1, 3));

/// A rank with workers that share the poll loop, a fallback poller, and an item for each worker that runs until
/// `let_go`.
struct rank_with_fallback_poller : threaded_rank {
  explicit rank_with_fallback_poller(std::uint32_t count)
      : threaded_rank({.workers = count, .patience = milliseconds(1)}) {
    for (std::uint32_t i = 0; i < count; ++i) {
      items.emplace_back([this](thread_context&) {
        ++running;
        static_cast<void>(time_until([this] { return let_go.load(); }));
        --running;
      });
    }
  }
  void occupy_all() {
    let_go = false;
    for (function_item& each : items) pool.make_ready(pool.application(), each);
    EXPECT_LT(time_until([this] { return running == items.size(); }), patience);
  }
  void release_all() {
    let_go = true;
    EXPECT_LT(time_until([this] { return pool.idle_workers() == items.size(); }), patience);
  }

  std::atomic<bool> let_go{false};
  std::atomic<std::size_t> running{0};
  std::deque<function_item> items;
};

TEST_P(thread_pool_fallback, brings_messages_and_timers_though_no_item_ends) {
  rank_with_fallback_poller rank(GetParam());
  std::atomic<std::uint32_t> arrived{0};
  std::atomic<int> rings{0};
  rank.sink.on_message = [&](thread_context& thread, std::uint32_t) {
    EXPECT_EQ(thread.role(), thread_role::progress);
    ++arrived;
  };
  rank.plane.duties().add_timer(milliseconds(1), [&](thread_context&) -> nanoseconds {
    ++rings;
    return milliseconds(1);
  });
  rank.pool.start();
  rank.occupy_all();
  for (std::uint32_t count = 1; count <= 10; ++count) {
    rank.send_from_peer(0);
    EXPECT_LT(time_until([&] { return arrived == count; }), patience);
  }
  const int previous = rings;
  EXPECT_LT(time_until([&] { return rings >= previous + 3; }), patience);
  EXPECT_EQ(rank.running, GetParam());
  rank.release_all();
  rank.pool.stop();
}

TEST_P(thread_pool_fallback, comes_soon_also_after_a_rest) {
  rank_with_fallback_poller rank(GetParam());
  std::atomic<int> arrived{0};
  rank.sink.on_message = [&](thread_context&, std::uint32_t) { ++arrived; };
  slow_rounds times;
  rank.pool.start();
  for (int round = 0; round < 20 && !times.too_many(); ++round) {
    EXPECT_LT(time_until([&] { return rank.pool.idle_workers() == GetParam(); }), patience);
    spin_for(milliseconds(10));
    rank.occupy_all();
    const auto start = std::chrono::steady_clock::now();
    rank.send_from_peer(0);
    EXPECT_LT(time_until([&] { return arrived == round + 1; }), patience);
    times.add(std::chrono::steady_clock::now() - start);
    rank.release_all();
  }
  rank.pool.stop();
  times.check();
}

TEST_P(thread_pool_fallback, leaves_a_rank_alone_that_has_a_worker_to_spare) {
  rank_with_fallback_poller rank(GetParam());
  std::atomic<int> polls{0};
  rank.plane.duties().add_hook([&](thread_context& thread) {
    if (thread.role() == thread_role::progress) ++polls;
    return nanoseconds::max();
  });
  rank.pool.start();
  EXPECT_LT(time_until([&] { return rank.pool.idle_workers() == GetParam(); }), patience);
  const int previous = polls;
  spin_for(milliseconds(50));
  EXPECT_LE(polls, previous + 1) << "only a poll that had begun before all had come to rest";
  rank.pool.stop();
}

}  // namespace
}  // namespace nacre::exec_test
