// SPDX-License-Identifier: Apache-2.0
// How often a worker without work polls: counted at a transport that never brings anything.
#include "exec/thread_pool_test_kit.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace nacre::exec_test {
namespace {

constexpr milliseconds period{1};  // of a timer that brings nothing

class passing_time final : public clock {
 public:
  [[nodiscard]] nanoseconds now() override { return nanoseconds(now_.load()); }
  void advance(nanoseconds step) noexcept { now_ += step.count(); }

 private:
  std::atomic<std::int64_t> now_{1};
};

/// The endpoint of a lone rank. Time passes while a thread waits there, and at no other time.
class still_end final : public transport::endpoint {
 public:
  explicit still_end(passing_time& time) : time_(time) {}
  rank_id rank() const noexcept override { return rank_id(0); }
  std::uint32_t size() const noexcept override { return 1; }
  const transport::capabilities& declared() const noexcept override { return declared_; }
  void submit(rank_id, message_list&) override {}
  bool poll(message_list&, std::size_t) override {
    ++polls;
    return false;
  }
  void wait(nanoseconds timeout) override {
    time_.advance(timeout);
    most_polls = std::max(most_polls.load(), polls.exchange(0));
    sleeps.push_back(timeout);
    ++waits;
  }
  void wake() noexcept override {}
  std::optional<transport::failure> failed() override { return std::nullopt; }
  bool unsent() const noexcept override { return false; }
  void close(nanoseconds) override {}

  std::atomic<std::uint32_t> waits{0};
  std::atomic<std::uint32_t> polls{0};       // since the last wait
  std::atomic<std::uint32_t> most_polls{0};  // between two waits
  std::vector<nanoseconds> sleeps;           // of the waiting thread; for others when the worker pool has stopped

 private:
  passing_time& time_;
  transport::capabilities declared_;
};

struct still_rank {
  explicit still_rank(const setting& setting)
      : order(setting.workers),
        pool({.workers = setting.workers, .seed = 1},
             {.progress = setting.progress,
              .spin = setting.spin,
              .woken_spin_max = setting.woken_spin_max,
              .crowded = setting.crowded},
             plane, order) {
    plane.attach(sink);
    plane.duties().add_hook([this](thread_context& thread) {
      if (work* const next = item.exchange(nullptr)) pool.make_ready(thread, *next);
      return time.now() + period;
    });
  }

  /// For the condition of one wait of the application: whether its worker has done its first spin and sleep. From then
  /// on polls count.
  bool warmed_up() {
    if (!first_) first_ = link->waits;
    if (link->waits - *first_ >= 2) return true;
    link->most_polls = 0;
    return false;
  }

  passing_time time;
  still_end* link = new still_end(time);  // the backplane's
  std::atomic<work*> item{nullptr};       // made ready by the next poll
  function_sink sink;
  backplane plane{std::unique_ptr<transport::endpoint>(link), time};
  deque_scheduler order;
  thread_pool pool;

 private:
  std::optional<std::uint32_t> first_;
};

TEST(thread_pool_idle, a_worker_that_only_timers_wake_sleeps_on_without_spinning) {
  for (const bool crowded : {false, true}) {
    still_rank one({.spin = milliseconds(20), .crowded = crowded});
    one.pool.start();
    one.pool.wait_until([&] { return one.warmed_up() && one.link->waits >= 50; });
    EXPECT_LE(one.link->most_polls, 4U) << "a look after each sleep, and one before the next";
    one.pool.stop();
  }
}

TEST(thread_pool_idle, a_worker_that_has_found_work_spins_again) {
  still_rank one({.spin = milliseconds(20)});
  function_item item([](thread_context&) {});
  one.pool.start();
  const auto begin = std::chrono::steady_clock::now();
  std::uint32_t next = 0;
  one.pool.wait_until([&] {
    // Other programs may take the core for all of a spin, but not each time.
    if (one.warmed_up() && one.link->waits >= next) {
      one.item = &item;
      next = one.link->waits + 4;
    }
    return one.link->most_polls > 50 || std::chrono::steady_clock::now() - begin > patience;
  });
  EXPECT_GT(one.link->most_polls, 50U);
  one.pool.stop();
}

TEST(thread_pool_idle, a_worker_that_is_woken_soon_spins_longer_the_next_time) {
  constexpr milliseconds spin(20);
  still_rank one({.spin = spin, .woken_spin_max = 8 * spin});
  std::chrono::steady_clock::time_point found_at{};
  std::chrono::steady_clock::duration longest{};
  function_item item([&](thread_context&) { found_at = std::chrono::steady_clock::now(); });
  one.pool.start();
  const auto begin = std::chrono::steady_clock::now();
  std::uint32_t next = 1;
  one.pool.wait_until([&] {
    const auto now = std::chrono::steady_clock::now();
    if (one.link->waits >= next) {  // it sleeps for no time at all
      one.item = &item;
      next = one.link->waits + 1;
    } else if (found_at > begin) {
      longest = std::max(longest, now - found_at);
    }
    return longest >= 4 * spin || now - begin > patience;
  });
  EXPECT_GE(longest, 4 * spin);
  one.pool.stop();
}

/// One worker runs an item until the other one has slept some times. Returns all these sleeps, and the sleeps at rest.
std::vector<nanoseconds> sleeps_beside_work(const setting& setting, nanoseconds timer) {
  still_rank one(setting);
  one.plane.duties().add_hook([&](thread_context&) { return one.time.now() + timer; });
  std::atomic<bool> is_over{false};
  function_item item([&](thread_context& thread) {
    const std::uint32_t begin = one.link->waits;
    while (one.link->waits - begin < 40) std::this_thread::yield();
    is_over = true;
    one.pool.wake_application(thread);
  });
  one.pool.start();
  one.pool.make_ready(one.pool.application(), item);
  one.pool.wait_until([&] { return is_over.load(); });
  one.pool.stop();
  return one.link->sleeps;
}

TEST(thread_pool_idle, where_threads_share_cores_the_watcher_lets_timers_be_late_more_each_time_up_to_a_bound) {
  constexpr nanoseconds timer{1};
  const auto sleeps = sleeps_beside_work({.workers = 2, .crowded = true}, timer);
  EXPECT_EQ(*std::max_element(sleeps.begin(), sleeps.end()), microseconds(500));
  EXPECT_EQ(sleeps.front(), timer);
  nanoseconds longest = timer;  // not the last: another thread may watch for a while, and begins anew
  for (const nanoseconds sleep : sleeps) {
    ASSERT_LE(sleep, std::max<nanoseconds>(2 * longest, microseconds(5)));
    longest = std::max(longest, sleep);
  }
}

TEST(thread_pool_idle, timers_are_in_time_where_each_thread_has_a_core) {
  for (const nanoseconds sleep : sleeps_beside_work({.workers = 2}, microseconds(20))) {
    ASSERT_LE(sleep, microseconds(20));
  }
}

TEST(thread_pool_idle, timers_of_a_rank_that_has_come_to_rest_are_in_time_everywhere) {
  still_rank crowded({.crowded = true});
  crowded.plane.duties().add_hook([&](thread_context&) { return crowded.time.now() + microseconds(20); });
  crowded.pool.start();
  crowded.pool.wait_until([&] { return crowded.link->waits >= 40; });
  crowded.pool.stop();
  for (const nanoseconds sleep : crowded.link->sleeps) ASSERT_LE(sleep, microseconds(20));
}

}  // namespace
}  // namespace nacre::exec_test
