// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of thread_pool: a rank with threads, a peer that sends to it, and a count of slow rounds.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <nacre/config.hpp>
#include <nacre/rng.hpp>

#include "base/clock.hpp"
#include "base/ws_deque.hpp"
#include "exec/thread_pool.hpp"

namespace nacre::exec_test {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

inline constexpr auto shared = progress_mode::shared;
inline constexpr auto dedicated = progress_mode::dedicated;

inline constexpr std::chrono::seconds patience{30};

/// The bound of sleeps in tests: far beyond what a busy machine delays a round by.
inline constexpr std::chrono::seconds sleep_bound{10};

/// One deque for each thread context, and stealing. Like the scheduler of a real rank it has no lock, and so orders
/// nothing that the worker pool should have ordered itself.
class deque_scheduler final : public scheduler {
 public:
  explicit deque_scheduler(std::uint32_t workers) {
    for (std::uint32_t index = 0; index < workers + threads_beside_workers; ++index)
      thread_contexts_.push_back(std::make_unique<ws_deque<work>>());
  }
  void push(worker_id worker, work& item) override { thread_contexts_[worker.value()]->push(&item); }
  work* pop(worker_id worker) override {
    for (std::size_t tried = 0; tried < thread_contexts_.size(); ++tried) {
      ws_deque<work>& victim = *thread_contexts_[(worker.value() + tried) % thread_contexts_.size()];
      work* item = nullptr;
      for (;;) {
        const steal_result result = victim.take_oldest(item);
        if (result == steal_result::taken) return item;
        if (result == steal_result::empty) break;
      }
    }
    return nullptr;
  }
  std::size_t waiting(worker_id worker) const override { return thread_contexts_[worker.value()]->size_estimate(); }

 private:
  std::vector<std::unique_ptr<ws_deque<work>>> thread_contexts_;
};

/// Work that calls a function. It may be made ready again as soon as it runs.
class function_item final : public work {
 public:
  explicit function_item(std::function<void(thread_context&)> body) : work(&run_body), body_(std::move(body)) {}

 private:
  static void run_body(work& self, thread_context& thread) { static_cast<function_item&>(self).body_(thread); }
  std::function<void(thread_context&)> body_;
};

/// Hands each message's number to a function, inside the poll loop.
class function_sink final : public message_sink {
 public:
  void deliver(thread_context& thread, message_list& arrived) override {
    while (const message_ptr m = arrived.pop_front()) on_message(thread, m->header.sequence);
  }
  void flush(thread_context&) override {}
  void peer_failed(const transport::failure&) override {}
  [[nodiscard]] bool idle() const override { return true; }

  std::function<void(thread_context&, std::uint32_t)> on_message = [](thread_context&, std::uint32_t) {};
};

struct setting {
  progress_mode progress = progress_mode::shared;
  std::uint32_t workers = 1;
  nanoseconds spin{0};
  bool crowded = false;
  nanoseconds patience{0};  // no fallback poller, which would make up for a lost wake-up
  nanoseconds woken_spin_max{0};
};

inline void PrintTo(const setting& setting, std::ostream* out) {
  *out << (setting.progress == progress_mode::shared ? "shared_" : "dedicated_") << setting.workers << "_spin_"
       << setting.spin.count() / 1000 << (setting.crowded ? "us_crowded" : "us")
       << (setting.patience.count() != 0 ? "_with_fallback_poller" : "");
}

[[nodiscard]] inline std::string name_of(const setting& setting) {
  std::ostringstream out;
  PrintTo(setting, &out);
  return out.str();
}

/// Rank 0 of two over the transport inside a process. Rank 1 is an endpoint in the hands of the test.
struct ranks_of_a_test {
  void send_from_peer(std::uint32_t number) {
    message_list batch;
    batch.push_back(numbered(number));
    peer->submit(rank_id(0), batch);
  }
  void send_to_self(std::uint32_t number) { plane.send(rank_id(0), numbered(number)); }
  [[nodiscard]] static message_ptr numbered(std::uint32_t number) {
    message_ptr m = make_message(0);
    m->header.sequence = number;
    return m;
  }
  ranks_of_a_test() { plane.attach(sink); }

  steady_clock_source time;
  std::unique_ptr<transport::fabric> net = transport::find_backend("inproc").make_local(2, config());
  function_sink sink;
  backplane plane{net->open(rank_id(0)), time};
  std::unique_ptr<transport::endpoint> peer = net->open(rank_id(1));
};

/// Rank 0 of two, with threads and a scheduler.
struct threaded_rank : ranks_of_a_test {
  explicit threaded_rank(const setting& setting)
      : order(setting.workers),
        pool({.workers = setting.workers, .seed = 1},
             {.progress = setting.progress,
              .spin = setting.spin,
              .crowded = setting.crowded,
              .patience = setting.patience,
              .sleep_max = sleep_bound},
             plane, order) {}

  deque_scheduler order;
  thread_pool pool;
};

/// Yields the processor until `ready` or until `patience` is over. Returns the time that it took.
template <class Ready>
[[nodiscard]] nanoseconds time_until(Ready ready) {
  const auto start = std::chrono::steady_clock::now();
  nanoseconds passed{0};
  while (!ready() && passed < patience) {
    std::this_thread::yield();
    passed = std::chrono::steady_clock::now() - start;
  }
  return passed;
}

/// Spins for that long, so that the caller goes on at a chosen moment.
inline void spin_for(nanoseconds time) {
  const auto end = ticks() + static_cast<std::uint64_t>(ticks_per_second() * 1e-9 * static_cast<double>(time.count()));
  while (ticks() < end) continue;
}

/// Counts the rounds in which a sleeper was rescued by the bound of its sleep instead of being woken.
///
/// A round takes some microseconds. A sleeper may have slept for a part of its bound when its wake-up is lost, so not
/// every lost one costs nearly all of the bound, but most do. A machine that has more to do than this test delays a
/// round by that much very rarely; a few are allowed.
class slow_rounds {
 public:
  void add(nanoseconds round) {
    worst_ = std::max(worst_, round);
    slow_ += round > slow ? 1 : 0;
  }
  /// True when the rounds need not go on, because the test has failed.
  [[nodiscard]] bool too_many() const { return slow_ > allowed || worst_ >= patience; }
  void check() const {
    EXPECT_FALSE(too_many()) << slow_ << " rounds took more than 3 s, the worst one "
                             << std::chrono::duration_cast<milliseconds>(worst_).count() << " ms";
  }

 private:
  static constexpr milliseconds slow{3000};
  static constexpr std::uint32_t allowed = 2;
  nanoseconds worst_{0};
  std::uint32_t slow_ = 0;
};

}  // namespace nacre::exec_test
