// SPDX-License-Identifier: Apache-2.0
// No wake-up is lost: any thread makes work ready, at any moment of the workers' way to sleep.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <thread>
#include <utility>

#include "exec/thread_pool_test_kit.hpp"

namespace nacre::exec_test {
namespace {

/// Draws the pause before the next item so that it comes while the workers are on their way to sleep: mostly within
/// some microseconds of the moment when they stop spinning, now and then when they have slept for a while.
class pauses {
 public:
  explicit pauses(nanoseconds spin) : spin_(spin), random_(3) {}
  [[nodiscard]] nanoseconds next() {
    const auto body = [this](std::uint64_t bound_ns) { return nanoseconds(random_.below(bound_ns)); };
    switch (random_.below(8)) {
      case 0:
        return spin_ + body(60'000);
      case 1:
        return body(1'000);
      default:
        return spin_ + body(3'000);
    }
  }

 private:
  nanoseconds spin_;
  rng random_;
};

class thread_pool_wake : public testing::TestWithParam<setting> {
 protected:
  /// Enough for a fault that shows once in dozens of times, within a fraction of a second.
  [[nodiscard]] static int rounds() { return GetParam().spin > microseconds(100) ? 50 : 500; }

  /// Rounds of one item each, which `start` makes ready in the way that the test is about.
  template <class Start>
  void play(threaded_rank& rank, const std::atomic<int>& ran, Start start) {
    pauses pause(GetParam().spin);
    slow_rounds times;
    rank.pool.start();
    for (int round = 0; round < rounds() && !times.too_many(); ++round) {
      spin_for(pause.next());
      start();
      times.add(time_until([&] { return ran > round; }));
    }
    rank.pool.stop();
    times.check();
  }
};

TEST_P(thread_pool_wake, work_from_the_application_runs_at_once) {
  threaded_rank rank(GetParam());
  std::atomic<int> ran{0};
  function_item item([&](thread_context&) { ++ran; });
  play(rank, ran, [&] { rank.pool.make_ready(rank.pool.application(), item); });
}

TEST_P(thread_pool_wake, work_from_a_peers_message_runs_at_once) {
  threaded_rank rank(GetParam());
  std::atomic<int> ran{0};
  function_item item([&](thread_context&) { ++ran; });
  rank.sink.on_message = [&](thread_context& thread, std::uint32_t) { rank.pool.make_ready(thread, item); };
  play(rank, ran, [&] { rank.send_from_peer(0); });
}

TEST_P(thread_pool_wake, work_from_a_message_to_the_own_rank_runs_at_once) {
  threaded_rank rank(GetParam());
  std::atomic<int> ran{0};
  function_item item([&](thread_context&) { ++ran; });
  rank.sink.on_message = [&](thread_context& thread, std::uint32_t) { rank.pool.make_ready(thread, item); };
  play(rank, ran, [&] { rank.send_to_self(0); });
}

TEST_P(thread_pool_wake, a_timer_that_another_thread_sets_fires_in_time) {
  struct counting_timer final : timer {
    explicit counting_timer(std::atomic<int>& target) : timer(&on_due), fired(target) {}
    static void on_due(timer& self, thread_context&) { ++static_cast<counting_timer&>(self).fired; }
    std::atomic<int>& fired;
  };
  threaded_rank rank(GetParam());
  std::atomic<int> fired{0};
  counting_timer set(fired);
  play(rank, fired, [&] { rank.pool.set_timer(set, rank.pool.instant_after(fired % 2 == 0 ? 0 : 30e-6)); });
}

class thread_pool_wake_beside : public thread_pool_wake {};

TEST_P(thread_pool_wake_beside, work_from_a_running_item_goes_to_a_sleeper) {
  threaded_rank rank(GetParam());
  std::atomic<int> ran{0}, second_ran{0};
  pauses pause(GetParam().spin + microseconds(10));  // the sleepers are asleep, or as good as
  function_item second([&](thread_context&) { ++second_ran; });
  function_item first([&](thread_context& thread) {
    const int previous = second_ran;
    static_cast<void>(time_until([&] { return rank.pool.idle_workers() == GetParam().workers - 1; }));
    spin_for(pause.next());
    rank.pool.make_ready(thread, second);
    static_cast<void>(time_until([&] { return second_ran > previous; }));
    ++ran;
  });
  play(rank, ran, [&] { rank.pool.make_ready(rank.pool.application(), first); });
  EXPECT_EQ(ran, second_ran);
}

TEST_P(thread_pool_wake, the_waiting_application_sees_at_once_what_a_peers_message_did) {
  threaded_rank rank(GetParam());
  std::atomic<int> answered{0}, asked{0};
  function_item item([&](thread_context& thread) {
    ++answered;
    rank.pool.wake_application(thread);
  });
  rank.sink.on_message = [&](thread_context& caller, std::uint32_t number) {
    if (number % 2 == 0) return rank.pool.make_ready(caller, item);
    ++answered;  // a handler of the poll loop itself
    rank.pool.wake_application(caller);
  };
  std::thread peer([&] {
    pauses pause(GetParam().spin);
    for (int round = 0; round < rounds(); ++round) {
      static_cast<void>(time_until([&] { return asked > round; }));
      if (asked > rounds()) return;
      spin_for(pause.next());
      rank.send_from_peer(static_cast<std::uint32_t>(round));
    }
  });
  slow_rounds times;
  rank.pool.start();
  for (int round = 0; round < rounds() && !times.too_many(); ++round) {
    ++asked;
    const auto start = std::chrono::steady_clock::now();
    rank.pool.wait_until([&] { return answered > round; });
    times.add(std::chrono::steady_clock::now() - start);
  }
  asked = rounds() + 1;
  peer.join();
  rank.pool.stop();
  times.check();
}

TEST_P(thread_pool_wake, that_all_workers_have_come_to_rest_is_seen_in_the_poll_loop_at_once) {
  threaded_rank rank(GetParam());
  std::atomic<int> ran{0}, rests{0};
  std::atomic<bool> watching{false};
  rank.plane.duties().add_hook([&](thread_context&) {
    if (watching && rank.pool.idle_workers() == GetParam().workers) {
      watching = false;
      ++rests;
    }
    return nanoseconds::max();
  });
  function_item item([&](thread_context&) {
    ++ran;
    watching = true;
  });
  play(rank, rests, [&] { rank.pool.make_ready(rank.pool.application(), item); });
  EXPECT_EQ(ran, rests);
}

constexpr setting alone[] = {{shared, 1, microseconds(0), false}, {dedicated, 1, microseconds(0), false}};
constexpr setting several[] = {{shared, 2, microseconds(0), false},     {shared, 4, microseconds(0), true},
                               {shared, 2, microseconds(20), false},    {shared, 3, microseconds(300), true},
                               {dedicated, 2, microseconds(0), true},   {dedicated, 4, microseconds(20), true},
                               {dedicated, 2, microseconds(300), false}};

constexpr auto by_name = [](const auto& each) { return name_of(each.param); };
INSTANTIATE_TEST_SUITE_P(alone, thread_pool_wake, testing::ValuesIn(alone), by_name);
INSTANTIATE_TEST_SUITE_P(several, thread_pool_wake, testing::ValuesIn(several), by_name);
INSTANTIATE_TEST_SUITE_P(several, thread_pool_wake_beside, testing::ValuesIn(several), by_name);

/// Keeps each item for one worker.
class picky_scheduler final : public scheduler {
 public:
  void push(worker_id, work& item) override {
    const std::scoped_lock lock(guard_);
    item_ = &item;
  }
  work* pop(worker_id worker) override {
    const std::scoped_lock lock(guard_);
    return worker.value() == only_for ? std::exchange(item_, nullptr) : nullptr;
  }
  std::atomic<std::uint32_t> only_for{0};

 private:
  std::mutex guard_;
  work* item_ = nullptr;
};

TEST(thread_pool, a_worker_that_is_woken_for_an_item_of_another_one_wakes_the_next) {
  constexpr std::uint32_t workers = 4;
  for (const progress_mode progress : {shared, dedicated}) {
    struct picky_rank : ranks_of_a_test {
      explicit picky_rank(progress_mode mode)
          : pool({.workers = workers, .seed = 1, .selective = true},
                 {.progress = mode, .spin = nanoseconds(0), .sleep_max = sleep_bound}, plane, order) {}
      picky_scheduler order;
      thread_pool pool;
    } rank(progress);
    std::atomic<std::uint32_t> ran{0};
    function_item item([&](thread_context& thread) {
      EXPECT_EQ(thread.id().value(), rank.order.only_for);
      ++ran;
    });
    rank.sink.on_message = [&](thread_context& thread, std::uint32_t) { rank.pool.make_ready(thread, item); };
    slow_rounds times;
    rank.pool.start();
    for (std::uint32_t round = 0; round < 60 && !times.too_many(); ++round) {
      const bool rests = time_until([&] { return rank.pool.idle_workers() == workers; }) < patience;
      EXPECT_TRUE(rests);
      rank.order.only_for = round % workers;
      round % 3 == 0 ? rank.send_from_peer(round) : rank.pool.make_ready(rank.pool.application(), item);
      times.add(time_until([&] { return ran == round + 1; }));
    }
    rank.pool.stop();
    times.check();
  }
}

}  // namespace
}  // namespace nacre::exec_test
