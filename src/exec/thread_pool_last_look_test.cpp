// SPDX-License-Identifier: Apache-2.0
// The way to sleep, step by step: work between two looks is seen; a worker that finds some in its last look is awake.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <thread>
#include <utility>

#include "exec/thread_pool_test_kit.hpp"

namespace nacre::exec_test {
namespace {

/// Two workers that never spin: each looks twice, announces itself before the second look, and sleeps after it. The
/// first one finds `ambush` in its second look, not before the second worker is past its own.
class staged_scheduler final : public scheduler {
 public:
  explicit staged_scheduler(work& ambush) : ambush_(&ambush) {}
  void push(worker_id, work& item) override {
    const std::scoped_lock lock(mutex_);
    item_ = &item;
  }
  work* pop(worker_id worker) override {
    const int look = ++looks_[worker.value()];
    if (worker.value() == 0 && look == 2) {
      static_cast<void>(time_until([&] { return second_is_past_.load(); }));
      return ambush_;
    }
    if (worker.value() == 1 && look == 1) static_cast<void>(time_until([&] { return looks_[0] >= 2; }));
    const std::scoped_lock lock(mutex_);
    work* const item = std::exchange(item_, nullptr);
    if (worker.value() == 1 && look == 2) second_is_past_ = true;
    return item;
  }

 private:
  work* ambush_;
  std::array<std::atomic<int>, 2> looks_{};
  std::atomic<bool> second_is_past_{false};
  std::mutex mutex_;
  work* item_ = nullptr;  // under mutex_
};

enum class last_source { application, peer };

void find_work_in_the_last_look(progress_mode progress, last_source last_source) {
  slow_rounds times;
  for (int round = 0; round < 10 && !times.too_many(); ++round) {
    std::atomic<bool> busy{false}, ran{false};
    function_item lengthy([&](thread_context&) {
      busy = true;
      static_cast<void>(time_until([&] { return ran.load(); }));
    });
    function_item item([&](thread_context&) { ran = true; });
    staged_scheduler order(lengthy);
    ranks_of_a_test ranks;
    thread_pool pool({.workers = 2, .seed = 1},
                     {.progress = progress, .spin = nanoseconds(0), .crowded = false, .sleep_max = sleep_bound},
                     ranks.plane, order);
    ranks.sink.on_message = [&](thread_context& thread, std::uint32_t) { pool.make_ready(thread, item); };
    pool.start();
    EXPECT_LT(time_until([&] { return busy.load(); }), patience);
    if (last_source == last_source::application) pool.make_ready(pool.application(), item);
    if (last_source == last_source::peer) ranks.send_from_peer(0);
    times.add(time_until([&] { return ran.load(); }));
    pool.stop();
  }
  times.check();
}

/// Stops one thread at a chosen moment, until the test has acted.
class stage {
 public:
  explicit stage(int moment) : moment_(moment) {}
  /// The thread comes by, for the first, second, ... time.
  void pass() {
    if (++passed_ != moment_) return;
    reached_ = true;
    static_cast<void>(time_until([&] { return done_.load(); }));
  }
  template <class Act>
  void act(Act item) {
    EXPECT_LT(time_until([&] { return reached_.load(); }), patience);
    item();
    done_ = true;
  }

 private:
  int moment_;
  std::atomic<int> passed_{0};
  std::atomic<bool> reached_{false}, done_{false};
};

/// The scheduler of a lone worker, which passes the stage between finding nothing and returning.
class stopping_scheduler final : public scheduler {
 public:
  explicit stopping_scheduler(stage& stage) : stage_(stage) {}
  void push(worker_id worker, work& item) override { inner_.push(worker, item); }
  work* pop(worker_id worker) override {
    work* const item = inner_.pop(worker);
    if (item == nullptr) stage_.pass();
    return item;
  }

 private:
  deque_scheduler inner_{1};
  stage& stage_;
};

constexpr thread_pool::options sleepy(progress_mode progress) {
  return {.progress = progress, .spin = nanoseconds(0), .crowded = false, .sleep_max = sleep_bound};
}

/// The first look is before the announcement, the second one after it.
void make_ready_between_look_and_return(progress_mode progress, int look) {
  slow_rounds times;
  for (int round = 0; round < 5 && !times.too_many(); ++round) {
    std::atomic<bool> ran{false};
    function_item item([&](thread_context&) { ran = true; });
    stage stage(look);
    stopping_scheduler order(stage);
    ranks_of_a_test ranks;
    thread_pool pool({.workers = 1, .seed = 1}, sleepy(progress), ranks.plane, order);
    pool.start();
    stage.act([&] { pool.make_ready(pool.application(), item); });
    times.add(time_until([&] { return ran.load(); }));
    pool.stop();
  }
  times.check();
}

TEST(thread_pool_last_look, misses_nothing_that_the_application_made_ready_behind_an_earlier_one) {
  for (const int look : {1, 2}) {
    make_ready_between_look_and_return(progress_mode::shared, look);
    make_ready_between_look_and_return(progress_mode::dedicated, look);
  }
}

/// The poll hook runs after the look for arrived messages.
void send_between_look_and_return(progress_mode progress, int look, bool to_self) {
  slow_rounds times;
  for (int round = 0; round < 5 && !times.too_many(); ++round) {
    std::atomic<bool> ran{false};
    function_item item([&](thread_context&) { ran = true; });
    stage stage(look);
    deque_scheduler order(1);
    ranks_of_a_test ranks;
    ranks.plane.duties().add_hook([&](thread_context&) {
      stage.pass();
      return nanoseconds::max();
    });
    thread_pool pool({.workers = 1, .seed = 1}, sleepy(progress), ranks.plane, order);
    ranks.sink.on_message = [&](thread_context& thread, std::uint32_t) { pool.make_ready(thread, item); };
    pool.start();
    stage.act([&] { to_self ? ranks.send_to_self(0) : ranks.send_from_peer(0); });
    times.add(time_until([&] { return ran.load(); }));
    pool.stop();
  }
  times.check();
}

TEST(thread_pool_last_look, misses_no_message_that_came_behind_an_earlier_one) {
  for (const int look : {1, 2}) {
    for (const bool to_self : {false, true}) send_between_look_and_return(progress_mode::shared, look, to_self);
  }
  for (const bool to_self : {false, true}) send_between_look_and_return(progress_mode::dedicated, 1, to_self);
}

TEST(thread_pool_last_look, sees_whatever_the_application_waits_for) {
  for (const progress_mode progress : {progress_mode::shared, progress_mode::dedicated}) {
    for (const int look : {1, 2, 3}) {
      slow_rounds times;
      for (int round = 0; round < 5 && !times.too_many(); ++round) {
        std::atomic<bool> answered{false};
        stage stage(look);
        deque_scheduler order(1);
        ranks_of_a_test ranks;
        thread_pool pool({.workers = 1, .seed = 1}, sleepy(progress), ranks.plane, order);
        pool.start();
        std::thread other([&] {
          stage.act([&] {
            answered = true;
            pool.wake_application(pool.progress_thread());
          });
        });
        const auto start = std::chrono::steady_clock::now();
        pool.wait_until([&] {
          const bool seen = answered;
          if (!seen) stage.pass();
          return seen;
        });
        times.add(std::chrono::steady_clock::now() - start);
        other.join();
        pool.stop();
      }
      times.check();
    }
  }
}

TEST(thread_pool_last_look, that_finds_work_leaves_work_of_the_application_to_the_other_worker) {
  find_work_in_the_last_look(progress_mode::shared, last_source::application);
  find_work_in_the_last_look(progress_mode::dedicated, last_source::application);
}

TEST(thread_pool_last_look, that_finds_work_leaves_the_messages_to_the_other_worker) {
  find_work_in_the_last_look(progress_mode::shared, last_source::peer);
  find_work_in_the_last_look(progress_mode::dedicated, last_source::peer);
}

}  // namespace
}  // namespace nacre::exec_test
