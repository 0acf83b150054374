// SPDX-License-Identifier: Apache-2.0
// The promises of a pool of threads beside waking: the slot of worker 0, the spread of a burst, and an end.
#include "exec/thread_pool.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "exec/thread_pool_test_kit.hpp"

namespace nacre::exec_test {
namespace {

class thread_pool_settings : public testing::TestWithParam<setting> {};

INSTANTIATE_TEST_SUITE_P(
    with, thread_pool_settings,
    testing::Values(setting{shared, 1, microseconds(0), false}, setting{shared, 2, microseconds(20), false},
                    setting{shared, 4, microseconds(0), true}, setting{shared, 3, std::chrono::seconds(10), true},
                    setting{shared, 1, microseconds(0), false, milliseconds(1)},
                    setting{shared, 3, microseconds(20), true, microseconds(100)},
                    setting{dedicated, 1, microseconds(20), false}, setting{dedicated, 3, microseconds(0), true},
                    setting{dedicated, 2, std::chrono::seconds(10), true}),
    [](const auto& each) { return name_of(each.param); });

TEST(thread_pool, counts_the_time_of_every_item_also_of_a_long_one_after_any_number_of_short_ones) {
  threaded_rank rank({.workers = 1});
  constexpr std::uint64_t short_items = 40;
  const std::uint64_t long_ticks = ticks_per_second() / 2000;  // 0.5 ms
  std::uint64_t left = 0;
  std::atomic<bool> is_over{false};
  function_item item([&](thread_context& thread) {
    if (left-- != 0) return rank.pool.make_ready(thread, item);
    for (const std::uint64_t begin = ticks(); ticks() - begin < long_ticks;) continue;
    is_over = true;
  });
  const auto busy = [&] { return rank.pool.worker(0).counters().busy_ticks.read(); };
  rank.pool.start();
  for (std::uint64_t count = 0; count < short_items; ++count) {
    const std::uint64_t previous = busy();
    left = count;
    is_over = false;
    rank.pool.make_ready(rank.pool.application(), item);
    rank.pool.wait_until([&] { return is_over.load() && rank.pool.idle_workers() == 1; });
    EXPECT_GE(busy() - previous, long_ticks) << "after " << count << " short ones";
  }
  rank.pool.stop();
}

TEST(handler_meter, is_right_about_programs_that_do_something_long_again_and_again) {
  constexpr std::uint32_t handler = 3;
  constexpr int rounds = 80'000;
  for (const int period : {2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 26, 27, 64}) {
    handler_meter meter;
    std::uint64_t truth = 0, accounted = 0;
    for (int round = 0; round < rounds; ++round) {
      const std::uint64_t spent = round % period == 0 ? 8'000 : 100;
      truth += spent;
      if (meter.begin(handler)) accounted += meter.measured(handler, spent);
    }
    EXPECT_NEAR(static_cast<double>(accounted) / static_cast<double>(truth), 1, 0.05) << "after " << period;
  }
}

TEST(handler_meter, measures_long_runs_also_among_many_short_ones_of_another_handler) {
  constexpr std::uint32_t notice = 3, work = 4;
  constexpr std::uint64_t little = 100, much = 1'000'000;
  handler_meter meter;
  std::uint64_t short_ticks = 0;
  for (int round = 0; round < 800; ++round) {
    if (meter.begin(notice)) short_ticks += meter.measured(notice, little);
    if (round % 9 != 0) continue;
    ASSERT_TRUE(meter.begin(work)) << "round " << round;
    EXPECT_EQ(meter.measured(work, much), much);
  }
  EXPECT_NEAR(static_cast<double>(short_ticks), 800.0 * little, 15.0 * little);
}

TEST(thread_pool, a_substitute_runs_worker_0_while_the_application_computes_and_only_then) {
  threaded_rank rank({.workers = 1});
  const auto application = std::this_thread::get_id(), nobody = std::thread::id();
  std::atomic<bool> waits{false};
  std::atomic<std::thread::id> thread;
  function_item item([&](thread_context& caller) {
    EXPECT_EQ(&caller, &rank.pool.worker(0));
    thread = std::this_thread::get_id();
    if (waits && thread.load() != application)
      rank.pool.make_ready(caller, item);  // the substitute leaves after an item
  });
  slow_rounds times;
  rank.pool.start();
  for (int round = 0; round < 50 && !times.too_many(); ++round) {
    thread = nobody;
    rank.pool.make_ready(rank.pool.application(), item);
    times.add(time_until([&] { return thread.load() != nobody; }));
    EXPECT_NE(thread.load(), application);

    waits = true;
    rank.pool.make_ready(rank.pool.application(), item);
    const auto start = std::chrono::steady_clock::now();
    rank.pool.wait_until([&] { return thread.load() == application; });
    times.add(std::chrono::steady_clock::now() - start);
    waits = false;
  }
  rank.pool.stop();
  times.check();
}

TEST(thread_pool, the_substitute_comes_back_after_a_wait_that_was_long_enough_to_send_it_to_sleep) {
  threaded_rank rank({.workers = 1});
  std::atomic<int> ran{0};
  std::atomic<bool> is_over{false};
  function_item item([&](thread_context&) { ++ran; });
  rank.plane.duties().add_timer(milliseconds(60),
                                [&](thread_context& thread) -> nanoseconds {  // several times its patience
                                  is_over = true;
                                  rank.pool.wake_application(thread);
                                  return patience;
                                });
  rank.pool.start();
  rank.pool.wait_until([&] { return is_over.load(); });
  rank.pool.make_ready(rank.pool.application(), item);
  EXPECT_LT(time_until([&] { return ran == 1; }), patience);
  rank.pool.stop();
}

TEST(thread_pool, the_substitute_gives_the_slot_back_after_the_item_that_it_runs) {
  threaded_rank rank({.workers = 1});
  const std::thread::id application = std::this_thread::get_id();
  std::atomic<bool> let_go{false};
  std::atomic<int> inside{0}, begun{0}, ended{0};
  std::thread::id first, second;
  const auto enter = [&](std::thread::id& id) {
    EXPECT_EQ(++inside, 1) << "two threads in one slot";
    id = std::this_thread::get_id();
    ++begun;
  };
  function_item long_one([&](thread_context&) {
    enter(first);
    static_cast<void>(time_until([&] { return let_go.load(); }));
    --inside;
    ++ended;
  });
  function_item rest([&](thread_context&) {
    enter(second);
    --inside;
    ++ended;
  });
  rank.pool.start();
  for (int round = 0; round < 50 && !HasFailure(); ++round) {
    let_go = false;
    begun = ended = 0;
    rank.pool.make_ready(rank.pool.application(), long_one);
    ASSERT_LT(time_until([&] { return begun == 1; }), patience);
    rank.pool.make_ready(rank.pool.application(), rest);
    rank.pool.wait_until([&] {
      let_go = true;  // the application has asked for the slot before it looks here
      return ended == 2;
    });
    EXPECT_NE(first, application);
    EXPECT_EQ(second, application) << "the substitute has gone on with the slot";
  }
  rank.pool.stop();
}

TEST(thread_pool, the_application_goes_on_when_it_can_though_the_item_of_the_substitute_does_not_end) {
  threaded_rank rank({.workers = 1});
  std::atomic<bool> begun{false}, go_on{false}, ended{false};
  bool waited = false;
  function_item item([&](thread_context&) {
    begun = true;
    static_cast<void>(time_until([&] { return go_on.load(); }));
    ended = true;
  });
  rank.pool.start();
  rank.pool.make_ready(rank.pool.application(), item);
  static_cast<void>(time_until([&] { return begun.load(); }));
  rank.pool.wait_until([&] { return std::exchange(waited, true); });
  EXPECT_FALSE(ended);
  go_on = true;
  rank.pool.wait_until([&] { return rank.pool.idle_workers() == 1; });
  rank.pool.stop();
}

TEST_P(thread_pool_settings, the_application_may_take_its_slot_and_leave_it_as_fast_as_it_likes) {
  threaded_rank rank(GetParam());
  std::atomic<int> ran{0};
  function_item item([&](thread_context&) { ++ran; });
  rank.sink.on_message = [&](thread_context& thread, std::uint32_t) { rank.pool.make_ready(thread, item); };
  slow_rounds times;
  rank.pool.start();
  for (int round = 0; round < 100 && !times.too_many(); ++round) {
    rank.send_from_peer(0);
    const auto start = std::chrono::steady_clock::now();
    rank.pool.wait_until([] { return true; });
    times.add(std::chrono::steady_clock::now() - start);
    if (round % 8 == 0) times.add(time_until([&] { return ran == round + 1; }));
    static_cast<void>(time_until([&] { return ran == round + 1; }));
  }
  rank.pool.stop();
  times.check();
}

/// How a burst of work reaches a rank.
enum class burst_source { item, application, messages };

/// As many items as there are workers, each of which ends only when all of them run at the same time.
void spread_a_burst(const setting& setting, burst_source burst_source) {
  threaded_rank rank(setting);
  std::atomic<std::uint32_t> together{0}, ended{0};
  std::deque<function_item> burst;
  for (std::uint32_t i = 0; i < setting.workers; ++i) {
    burst.emplace_back([&](thread_context&) {
      ++together;
      static_cast<void>(time_until([&] { return together % setting.workers == 0; }));
      ++ended;
    });
  }
  function_item all_of_them([&](thread_context& thread) {
    for (function_item& each : burst) rank.pool.make_ready(thread, each);
  });
  rank.sink.on_message = [&](thread_context& caller, std::uint32_t number) {
    rank.pool.make_ready(caller, burst[number]);
  };
  rng random(5);
  const auto pause = [&] { spin_for(nanoseconds(random.below(3'000))); };  // some catch workers on their way to sleep
  slow_rounds times;
  rank.pool.start();
  for (std::uint32_t round = 1; round <= 100 && !times.too_many(); ++round) {
    pause();
    if (burst_source == burst_source::item) rank.pool.make_ready(rank.pool.application(), all_of_them);
    for (std::uint32_t i = 0; i < setting.workers; ++i) {
      if (burst_source == burst_source::application) rank.pool.make_ready(rank.pool.application(), burst[i]);
      if (burst_source == burst_source::messages) rank.send_from_peer(i);
      if (burst_source != burst_source::item) pause();
    }
    times.add(time_until([&] { return ended == round * setting.workers; }));
  }
  rank.pool.stop();
  times.check();
}

TEST_P(thread_pool_settings, a_burst_of_an_item_spreads_over_all_workers) {
  spread_a_burst(GetParam(), burst_source::item);
}
TEST_P(thread_pool_settings, a_burst_of_the_application_spreads_over_all_workers) {
  spread_a_burst(GetParam(), burst_source::application);
}
TEST_P(thread_pool_settings, a_burst_of_messages_spreads_over_all_workers) {
  spread_a_burst(GetParam(), burst_source::messages);
}

TEST_P(thread_pool_settings, knows_how_many_workers_look_for_work) {
  threaded_rank rank(GetParam());
  const std::uint32_t workers = GetParam().workers;
  std::atomic<bool> let_go{false};
  std::atomic<std::uint32_t> running{0};
  std::deque<function_item> items;
  for (std::uint32_t i = 0; i < workers; ++i) {
    items.emplace_back([&](thread_context&) {
      ++running;
      static_cast<void>(time_until([&] { return let_go.load(); }));
    });
  }
  rank.pool.start();
  EXPECT_LT(time_until([&] { return rank.pool.idle_workers() == workers; }), patience);
  for (std::uint32_t i = 0; i < workers; ++i) {
    rank.pool.make_ready(rank.pool.application(), items[i]);
    EXPECT_LT(time_until([&] { return running == i + 1; }), patience);
    EXPECT_EQ(rank.pool.idle_workers(), workers - i - 1);
  }
  let_go = true;
  EXPECT_LT(time_until([&] { return rank.pool.idle_workers() == workers; }), patience);
  rank.pool.stop();
}

/// The state of the workers when they are told to stop.
enum class pastime { starting, resting, working };

void stop_quickly(const setting& setting, pastime doing) {
  slow_rounds times;
  for (int round = 0; round < 10 && !times.too_many(); ++round) {
    threaded_rank rank(setting);
    std::atomic<std::uint32_t> ran{0};
    std::deque<function_item> endless;
    for (std::uint32_t i = 0; i < setting.workers; ++i) {
      endless.emplace_back([&, i](thread_context& thread) {
        ++ran;
        rank.pool.make_ready(thread, endless[i]);
      });
    }
    rank.pool.start();
    if (doing == pastime::working) {
      for (function_item& each : endless) rank.pool.make_ready(rank.pool.application(), each);
      EXPECT_LT(time_until([&] { return ran > 100; }), patience);
    } else if (doing == pastime::resting) {
      EXPECT_LT(time_until([&] { return rank.pool.idle_workers() == setting.workers; }), patience);
      spin_for(microseconds(round * 3));
    }
    const auto start = std::chrono::steady_clock::now();
    rank.pool.stop();
    times.add(std::chrono::steady_clock::now() - start);
    EXPECT_TRUE(doing != pastime::working || rank.order.waiting(worker_id(0)) <= setting.workers);
  }
  times.check();
}

TEST_P(thread_pool_settings, stops_at_once_when_it_has_just_started) { stop_quickly(GetParam(), pastime::starting); }
TEST_P(thread_pool_settings, stops_at_once_when_all_rest) { stop_quickly(GetParam(), pastime::resting); }
TEST_P(thread_pool_settings, stops_at_once_when_there_is_always_more_work) {
  stop_quickly(GetParam(), pastime::working);
}

}  // namespace
}  // namespace nacre::exec_test
