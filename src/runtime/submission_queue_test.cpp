// SPDX-License-Identifier: Apache-2.0
// The promises of submission_queue, each as a sentence.
#include "runtime/submission_queue.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <semaphore>
#include <thread>
#include <utility>
#include <vector>

#include <nacre/error.hpp>

#include "base/sanitized.hpp"

namespace nacre {
namespace {

constexpr std::uint64_t bytes_max = 1 << 20;

struct numbered final : detail::submission {
  numbered(std::size_t source, std::uint64_t value) : thread(source), number(value) {}
  void run(engine&, thread_context&) override {}
  std::size_t thread;
  std::uint64_t number;
};

bool put(submission_queue& queue, std::size_t thread, std::uint64_t number, detail::when_full policy) {
  std::unique_ptr<detail::submission> work = std::make_unique<numbered>(thread, number);
  const bool taken = queue.put(work, policy);
  EXPECT_EQ(work == nullptr, taken);
  return taken;
}

/// The poll loop sleeps whenever it finds nothing: a wake-up that is lost leaves the test hanging.
TEST(submission_queue, keeps_the_order_of_each_thread_and_wakes_the_poll_loop_for_what_it_does_not_see) {
  constexpr std::size_t threads = 4;
  constexpr std::uint64_t each = tests::sanitized ? 20'000 : 200'000;
  std::counting_semaphore<> woken{0};
  submission_queue queue(bytes_max, [&] { woken.release(); });
  std::vector<std::thread> others;
  for (std::size_t thread = 0; thread < threads; ++thread) {
    others.emplace_back([&queue, thread] {
      for (std::uint64_t number = 1; number <= each; ++number) put(queue, thread, number, detail::when_full::wait);
    });
  }
  std::vector<std::uint64_t> last(threads);
  std::uint64_t disorders = 0;
  for (std::uint64_t taken = 0; taken < threads * each;) {
    if (queue.empty()) woken.acquire();
    while (const auto next = queue.take()) {
      const auto& work = static_cast<const numbered&>(*next);
      disorders += work.number != ++last[work.thread] ? 1 : 0;
      ++taken;
    }
  }
  for (std::thread& other : others) other.join();
  EXPECT_EQ(disorders, 0U);
  EXPECT_TRUE(queue.empty());
}

TEST(submission_queue, refuses_what_is_too_much_and_lets_threads_wait_until_half_of_it_has_gone) {
  submission_queue queue(bytes_max, [] {});
  std::uint64_t number = 0;
  while (put(queue, 0, number, detail::when_full::refuse)) ++number;
  EXPECT_EQ(number, submission_queue::entries_max);
  queue.put_last(std::make_unique<numbered>(0, number));  // for which there is room always
  std::atomic<bool> handed_in{false};
  std::thread other([&] { handed_in = put(queue, 1, 1, detail::when_full::wait); });
  for (std::size_t taken = 0; taken <= submission_queue::entries_max / 2 + 64; ++taken) {
    ASSERT_NE(queue.take(), nullptr);
  }
  other.join();
  EXPECT_TRUE(handed_in);
  EXPECT_TRUE(put(queue, 0, ++number, detail::when_full::refuse));
}

TEST(submission_queue, is_full_by_bytes_too_but_takes_anything_when_it_is_not) {
  submission_queue queue(bytes_max, [] {});
  const auto put_bytes = [&queue](std::size_t bytes) {
    std::unique_ptr<detail::submission> work = std::make_unique<numbered>(0, 1);
    work->bytes = bytes;
    return queue.put(work, detail::when_full::refuse);
  };
  EXPECT_TRUE(put_bytes(bytes_max / 2));
  EXPECT_TRUE(put_bytes(5 * bytes_max));
  EXPECT_FALSE(put_bytes(0));
  EXPECT_NE(queue.take(), nullptr);
  EXPECT_FALSE(put_bytes(0)) << "the long one waits still";
  EXPECT_NE(queue.take(), nullptr);
  EXPECT_TRUE(put_bytes(0));
}

TEST(submission_queue, throws_after_its_end_also_where_a_thread_waits_for_room) {
  submission_queue queue(bytes_max, [] {});
  while (put(queue, 0, 1, detail::when_full::refuse)) continue;
  std::atomic<bool> threw{false};
  std::thread other([&] {
    std::unique_ptr<detail::submission> work = std::make_unique<numbered>(1, 1);
    try {
      static_cast<void>(queue.put(work, detail::when_full::wait));
    } catch (const usage_error&) {
      threw = true;
    }
  });
  queue.end();
  other.join();
  EXPECT_TRUE(threw);
  std::unique_ptr<detail::submission> late = std::make_unique<numbered>(0, 1);
  EXPECT_THROW(static_cast<void>(queue.put(late, detail::when_full::refuse)), usage_error);
  queue.put_last(std::move(late));  // is dropped
}

}  // namespace
}  // namespace nacre
