// SPDX-License-Identifier: Apache-2.0
// Several threads that send and poll at the same time: nothing lost, nothing twice, one poll at a time.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <latch>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include <nacre/config.hpp>
#include <nacre/rng.hpp>

#include "backplane/backplane_test_kit.hpp"

namespace nacre::backplane_test {
namespace {

constexpr std::uint32_t threads_a_rank = 3;
constexpr std::uint32_t messages = 10'000;  // of one thread to one rank

/// Reports two threads that are inside at once.
class turnstile {
 public:
  turnstile(std::atomic<bool>& occupied, const char* name) : occupied_(occupied) {
    EXPECT_FALSE(occupied_.exchange(true)) << "two threads at once in " << name;
  }
  ~turnstile() { occupied_ = false; }
  turnstile(const turnstile&) = delete;
  turnstile& operator=(const turnstile&) = delete;

 private:
  std::atomic<bool>& occupied_;
};

/// Checks the number of each message against the last one of the same sending thread; header.source is that thread.
class checking_sink final : public message_sink {
 public:
  explicit checking_sink(std::uint32_t senders) : next_(senders) {}
  void deliver(thread_context&, message_list& arrived) override {
    const turnstile alone(occupied_, "deliver");
    while (const message_ptr m = arrived.pop_front()) {
      wrong_ += next_[m->header.source]++ != m->header.sequence;
      received.fetch_add(1);
    }
  }
  void flush(thread_context&) override {}
  void peer_failed(const transport::failure&) override { ADD_FAILURE(); }
  [[nodiscard]] bool idle() const override { return true; }
  void check() const {
    EXPECT_EQ(wrong_, 0U) << "messages out of order";
    EXPECT_EQ(next_, numbers(next_.size(), messages));
  }

  std::atomic<std::uint32_t> received{0};

 private:
  std::atomic<bool> occupied_{false};
  std::vector<std::uint32_t> next_;  // by sender; under the poll lock
  std::uint32_t wrong_ = 0;          // under the poll lock
};

/// Rank 0 of two; rank 1 sends everything back at once. One thread at a time; takes some of each batch.
class echo_endpoint final : public transport::endpoint {
 public:
  rank_id rank() const noexcept override { return rank_id(0); }
  std::uint32_t size() const noexcept override { return 2; }
  const transport::capabilities& declared() const noexcept override { return declared_; }
  void submit(rank_id, message_list& batch) override {
    const turnstile alone(occupied_, "the link");
    for (std::uint64_t some = random_.below(6); some > 0 && !batch.empty(); --some) back_.push_back(batch.pop_front());
  }
  bool poll(message_list& arrived, std::size_t messages_max) override {
    const turnstile alone(occupied_, "the link");
    const bool moved = !back_.empty();
    for (; messages_max > 0 && !back_.empty(); --messages_max) arrived.push_back(back_.pop_front());
    return moved;
  }
  void wait(std::chrono::nanoseconds) override {}
  void wake() noexcept override {}
  std::optional<transport::failure> failed() override { return std::nullopt; }
  bool unsent() const noexcept override { return false; }
  void close(std::chrono::nanoseconds) override {}

 private:
  transport::capabilities declared_{.by_pointer = true};  // no credit: returned messages are not sent by a peer
  std::atomic<bool> occupied_{false};
  rng random_{7};
  message_list back_;
};

/// One thread: sends its messages to every rank and polls now and then, until its rank has received `expected`.
void send_and_poll(backplane& plane, const checking_sink& sink, std::uint32_t self, std::uint32_t expected) {
  thread_context thread;
  rng random(self);
  for (std::uint32_t i = 0; i < messages; ++i) {
    for (std::uint32_t target = 0; target < plane.size(); ++target) plane.send(rank_id(target), numbered(i, self));
    if (random.below(4) == 0) plane.progress(thread);
  }
  const auto start = std::chrono::steady_clock::now();
  while (sink.received < expected && std::chrono::steady_clock::now() - start < patience) {
    if (!plane.progress(thread)) std::this_thread::yield();
  }
}

TEST(backplane_threads, that_send_and_poll_lose_and_repeat_nothing) {
  constexpr std::uint32_t ranks = 2;
  constexpr std::uint32_t senders = ranks * threads_a_rank;
  steady_clock_source time;
  const auto net = transport::find_backend("inproc").make_local(ranks, config());
  std::vector<std::unique_ptr<checking_sink>> sinks;
  std::vector<std::unique_ptr<backplane>> planes;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    sinks.push_back(std::make_unique<checking_sink>(senders));
    planes.push_back(std::make_unique<backplane>(net->open(rank_id(rank)), time));
    planes.back()->attach(*sinks.back());
  }
  std::latch begin(senders);
  std::vector<std::thread> threads;
  for (std::uint32_t self = 0; self < senders; ++self) {
    threads.emplace_back([&, self] {
      begin.arrive_and_wait();
      send_and_poll(*planes[self % ranks], *sinks[self % ranks], self, senders * messages);
    });
  }
  for (std::thread& each : threads) each.join();
  for (const auto& each : sinks) each->check();
}

TEST(backplane_threads, share_a_link_for_one_thread_that_takes_only_some_of_a_batch) {
  steady_clock_source time;
  // The sender's number tells messages of the rank to itself from messages that its peer sends back.
  checking_sink sink(threads_a_rank);
  backplane plane(std::make_unique<echo_endpoint>(), time);
  plane.attach(sink);
  std::latch begin(threads_a_rank);
  std::vector<std::thread> threads;
  for (std::uint32_t self = 0; self < threads_a_rank; ++self) {
    threads.emplace_back([&, self] {
      thread_context thread;
      begin.arrive_and_wait();
      for (std::uint32_t i = 0; i < messages; ++i) {
        plane.send(rank_id(1), numbered(i, self));
        if (i % 8 == self) plane.progress(thread);
      }
      const auto start = std::chrono::steady_clock::now();
      while (sink.received < threads_a_rank * messages && std::chrono::steady_clock::now() - start < patience) {
        if (!plane.progress(thread)) std::this_thread::yield();
      }
    });
  }
  for (std::thread& each : threads) each.join();
  sink.check();
}

TEST(backplane_threads, run_a_timer_and_a_poll_hook_one_at_a_time) {
  steady_clock_source time;
  remembering_sink sink;
  backplane plane(std::make_unique<echo_endpoint>(), time);
  plane.attach(sink);
  std::atomic<bool> occupied{false};
  std::uint64_t runs = 0, looks = 0;  // under the poll lock
  plane.duties().add_timer({}, [&](thread_context&) -> std::chrono::nanoseconds {
    const turnstile alone(occupied, "a poll");
    ++runs;
    return {};
  });
  plane.duties().add_hook([&](thread_context&) {
    const turnstile alone(occupied, "a poll");
    ++looks;
    return std::chrono::nanoseconds::max();
  });
  std::latch begin(threads_a_rank);
  std::vector<std::thread> threads;
  for (std::uint32_t self = 0; self < threads_a_rank; ++self) {
    threads.emplace_back([&] {
      thread_context thread;
      begin.arrive_and_wait();
      for (std::uint32_t i = 0; i < messages; ++i) plane.progress(thread);
    });
  }
  for (std::thread& each : threads) each.join();
  EXPECT_GT(looks, 0U);
  EXPECT_EQ(runs, looks);
}

}  // namespace
}  // namespace nacre::backplane_test
