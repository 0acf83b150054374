// SPDX-License-Identifier: Apache-2.0
// Messages of a main to its own rank: their order, how many share an item of work, and that long handlers do not.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <nacre/nacre.hpp>

#include "base/sanitized.hpp"

namespace nacre::tests {
namespace {

config rank_with(const char* workers, const char* progress = "auto") {
  config configuration;
  configuration.set("ranks", "1");
  configuration.set("workers", workers);
  configuration.set("progress", progress);
  return configuration;
}

/// What the handlers of a job have seen. One job at a time.
struct seen {
  std::atomic<std::uint64_t> next{0};
  std::atomic<std::uint64_t> out_of_order{0};
  std::atomic<std::uint64_t> bytes{0};
};
seen* record = nullptr;

void expect_next(std::uint64_t number) {
  if (record->next.exchange(number + 1) != number) ++record->out_of_order;
}
void take_number(std::uint64_t number) { expect_next(number); }
void take_text(std::uint64_t number, std::string text) {
  expect_next(number);
  record->bytes += text.size();
}
void take_many(std::uint64_t number, std::span<const std::uint64_t> values) {
  expect_next(number);
  record->bytes += values.size_bytes();
}

/// Computes for a while without the runtime.
void compute(std::chrono::microseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) continue;
}

class main_messages : public testing::TestWithParam<const char*> {};

TEST_P(main_messages, of_every_kind_run_once_and_in_order_on_one_worker) {
  const std::uint64_t rounds = sanitized ? 300 : 3000;
  seen counted;
  record = &counted;
  std::uint64_t sent = 0, bytes = 0;
  EXPECT_EQ(run(rank_with("1", GetParam()),
                [&](runtime& rt) {
                  const std::vector<std::uint64_t> long_one(1000, 7);
                  for (std::uint64_t round = 0; round < rounds; ++round) {
                    for (std::uint64_t each = 0; each < round % 200; ++each) rt.send<take_number>(rt.rank(), sent++);
                    if (round % 3 == 0) rt.send<take_text>(rt.rank(), sent++, std::string(100, 'x')), bytes += 100;
                    if (round % 5 == 0) {
                      const std::size_t length = round % 997;
                      rt.send<take_many>(rt.rank(), sent++, std::span(long_one).first(length));
                      bytes += 8 * length;
                    }
                    if (round % 7 == 0) compute(std::chrono::microseconds(60));
                    if (round % 50 == 0) rt.wait_quiescence();
                  }
                  rt.wait_quiescence();
                  EXPECT_EQ(counted.next, sent);
                }),
            0);
  EXPECT_EQ(counted.out_of_order, 0u);
  EXPECT_EQ(counted.bytes, bytes);
}

INSTANTIATE_TEST_SUITE_P(polled, main_messages, testing::Values("shared", "dedicated"),
                         [](const auto& each) { return std::string(each.param); });

/// By worker.
struct alignas(64) counter {
  std::uint64_t sum = 0;
};
std::array<counter, 2> sums;
void add(context& ctx, std::uint64_t n) { sums[ctx.worker().value()].sum += n; }

TEST(main_messages_on_two_workers, all_run_before_quiescence) {
  constexpr std::uint64_t messages = 300'000;
  std::uint64_t found_count = 0;
  EXPECT_EQ(run(rank_with("2"),
                [&](runtime& rt) {
                  for (std::uint64_t n = 1; n <= messages; ++n) rt.send<add>(rt.rank(), n);
                  rt.wait_quiescence();
                  found_count = sums[0].sum + sums[1].sum;
                }),
            0);
  EXPECT_EQ(found_count, messages * (messages + 1) / 2);
}

/// One queue for all threads, which counts what it gets.
class counting_scheduler final : public scheduler {
 public:
  explicit counting_scheduler(std::atomic<std::uint64_t>& pushes) : pushes_(pushes) {}
  void push(worker_id, work& item) override {
    ++pushes_;
    const std::scoped_lock lock(mutex_);
    items_.push_back(&item);
  }
  work* pop(worker_id) override {
    const std::scoped_lock lock(mutex_);
    if (items_.empty()) return nullptr;
    work* const item = items_.front();
    items_.pop_front();
    return item;
  }

 private:
  std::atomic<std::uint64_t>& pushes_;
  std::mutex mutex_;
  std::deque<work*> items_;
};

std::atomic<std::uint64_t> pushes{0};
std::atomic<std::uint64_t> short_ones{0};
void be_short() { short_ones.fetch_add(1, std::memory_order_relaxed); }

TEST(main_messages_to_short_handlers, share_items_of_work) {
  constexpr std::uint64_t messages = 200'000;
  register_scheduler("counting",
                     [](const config&, const scheduler_site&) { return std::make_unique<counting_scheduler>(pushes); });
  config configuration = rank_with("1");
  configuration.set("scheduler", "counting");
  std::uint64_t pushed = 0;
  EXPECT_EQ(run(configuration,
                [&](runtime& rt) {
                  for (int warm = 0; warm < 100; ++warm) rt.send<be_short>(rt.rank());
                  rt.wait_quiescence();
                  const std::uint64_t previous = pushes;
                  for (std::uint64_t n = 0; n < messages; ++n) rt.send<be_short>(rt.rank());
                  rt.wait_quiescence();
                  pushed = pushes - previous;
                }),
            0);
  EXPECT_EQ(short_ones, messages + 100);
  const std::uint64_t most = sanitized ? messages : messages / 2;  // no handler is short under a sanitizer
  EXPECT_LE(pushed, most) << "bundles hold ten and more, on a busy machine a few";
}

/// Refuses to be measured, so that its message is never made.
struct refusing {
  bool refuses = false;
  std::string text;
  template <class Archive>
  void serialize(Archive& ar) {
    if (refuses) throw std::runtime_error("refused");
    ar(text);
  }
};
void take_refusing(refusing given) { record->bytes += given.text.size(); }

TEST(main_messages_that_cannot_be_packed, throw_where_main_sends_them) {
  seen of_job;
  record = &of_job;
  EXPECT_EQ(run(rank_with("1"),
                [&](runtime& rt) {
                  for (std::uint64_t number = 0; number < 100; ++number) {
                    rt.send<take_number>(rt.rank(), number);
                    EXPECT_THROW(rt.send<take_refusing>(rt.rank(), refusing{true, ""}), std::runtime_error);
                    rt.send<take_refusing>(rt.rank(), refusing{false, "abc"});
                  }
                  rt.wait_quiescence();
                }),
            0);
  EXPECT_EQ(of_job.out_of_order, 0U);
  EXPECT_EQ(of_job.next, 100U);
  EXPECT_EQ(of_job.bytes, 300U);
}

std::atomic<int> running{0};
std::atomic<bool> met{false};
void meet_the_other() {
  ++running;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (running < 2 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  met = running == 2;
}

TEST(main_messages_to_long_handlers, run_on_both_workers_at_once) {
  EXPECT_EQ(run(rank_with("2"),
                [&](runtime& rt) {
                  rt.send<meet_the_other>(rt.rank());
                  rt.send<meet_the_other>(rt.rank());
                  rt.wait_quiescence();
                }),
            0);
  EXPECT_TRUE(met) << "the second message waited for the end of the first";
}

std::atomic<std::uint64_t> sent_so_far{0}, sent_meanwhile{0};
std::atomic<bool> long_one_began{false}, long_one_ended{false};

void be_long() {
  const std::uint64_t previous = sent_so_far;
  long_one_began = true;
  compute(std::chrono::milliseconds(800));
  sent_meanwhile = sent_so_far - previous;
  long_one_ended = true;
}
void hear_of_it(std::uint64_t) {}

/// The workers of the sender are idle all the time; those of the receiver are not.
TEST(main_messages_by_pointer, do_not_run_ahead_of_a_rank_that_is_in_a_long_handler) {
  sent_so_far = sent_meanwhile = 0;
  long_one_began = long_one_ended = false;
  config configuration = rank_with("1");
  configuration.set("ranks", "2");
  configuration.set("transport", "inproc");
  EXPECT_EQ(run(configuration,
                [&](runtime& rt) {
                  if (rt.rank().value() != 0) return;
                  rt.send<be_long>(rank_id{1});
                  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
                  const auto goes_on = [end] { return std::chrono::steady_clock::now() < end; };
                  while (!long_one_began && goes_on()) std::this_thread::yield();
                  while (!long_one_ended && goes_on()) {
                    rt.send<hear_of_it>(rank_id{1}, 0U);
                    ++sent_so_far;
                  }
                }),
            0);
  EXPECT_TRUE(long_one_ended);
  EXPECT_LT(sent_meanwhile, 150'000U) << "2 MiB are 43,690 such messages";
}

}  // namespace
}  // namespace nacre::tests
