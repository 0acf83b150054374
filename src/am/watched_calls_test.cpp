// SPDX-License-Identifier: Apache-2.0
// What a rank knows of the calls of others that it runs, and for how long.
#include "am/watched_calls.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace nacre {
namespace {

using answer = watched_calls::answer;
constexpr rank_id caller{2}, other{3};

TEST(watched_calls, are_asked_for_once_and_known_until_they_are_over) {
  watched_calls calls;
  EXPECT_EQ(calls.ask(caller, 7), answer::first);
  EXPECT_EQ(calls.ask(caller, 7), answer::waits);
  EXPECT_EQ(calls.ask(other, 7), answer::first) << "a call of another rank with the same number";
  calls.note(caller, 7, call_news::given_up);
  EXPECT_EQ(calls.ask(caller, 7), answer::given_up);
  EXPECT_EQ(calls.ask(other, 7), answer::waits);
  EXPECT_EQ(calls.count(), 2U);
  calls.note(caller, 7, call_news::over);
  calls.note(other, 7, call_news::over);
  EXPECT_EQ(calls.count(), 0U);
}

TEST(watched_calls, take_no_news_of_calls_that_nobody_has_asked_about) {
  watched_calls calls;
  calls.note(caller, 7, call_news::given_up);
  calls.note(caller, 8, call_news::over);
  EXPECT_EQ(calls.count(), 0U);
  EXPECT_EQ(calls.ask(caller, 7), answer::first) << "news that came too early or too late change nothing";
}

TEST(watched_calls, of_a_rank_that_is_gone_are_given_up) {
  watched_calls calls;
  EXPECT_EQ(calls.ask(caller, 7), answer::first);
  calls.note_gone(caller);
  EXPECT_EQ(calls.ask(caller, 7), answer::given_up);
  EXPECT_EQ(calls.ask(caller, 8), answer::given_up) << "nobody could answer";
  EXPECT_EQ(calls.ask(other, 7), answer::first);
}

/// A poll loop brings news of the calls that two handlers ask about.
TEST(watched_calls, may_be_asked_about_while_news_of_them_come) {
  constexpr std::uint64_t count = 500;
  watched_calls calls;
  std::atomic<std::uint64_t> wrong{0};
  std::vector<std::thread> handlers;
  for (std::uint64_t handler = 0; handler < 2; ++handler) {
    handlers.emplace_back([&, handler] {
      for (std::uint64_t call = handler; call < count; call += 2) {
        if (calls.ask(caller, call) != answer::first) ++wrong;
        while (calls.ask(caller, call) == answer::waits) std::this_thread::yield();
      }
    });
  }
  std::atomic<bool> ended{false};
  std::thread poll_loop([&] {
    while (!ended) {
      for (std::uint64_t call = 0; call < count; ++call) calls.note(caller, call, call_news::given_up);
      std::this_thread::yield();
    }
  });
  for (std::thread& each : handlers) each.join();
  ended = true;
  poll_loop.join();
  EXPECT_EQ(wrong, 0U);
  EXPECT_EQ(calls.count(), count);
  for (std::uint64_t call = 0; call < count; ++call) calls.note(caller, call, call_news::over);
  EXPECT_EQ(calls.count(), 0U);
}

}  // namespace
}  // namespace nacre
