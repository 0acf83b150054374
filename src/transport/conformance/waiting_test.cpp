// SPDX-License-Identifier: Apache-2.0
// The promises of every backend about an idle rank: it sleeps, and each message, wake and time-out wakes it.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <utility>

#include "transport/conformance/streams.hpp"

namespace nacre::transport::conformance {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

class waiting_ends : public ::testing::TestWithParam<subject> {};

INSTANTIATE_TEST_SUITE_P(every_backend, waiting_ends, ::testing::ValuesIn(every_backend_with({2})),
                         [](const auto& each) { return name_of(each.param); });

TEST_P(waiting_ends, a_wake_before_the_wait_is_kept) {
  job under_test(GetParam());
  if (under_test.declared().virtual_time) GTEST_SKIP() << "virtual_time is declared: nobody waits";
  const auto start = steady_clock::now();
  for (int i = 0; i < 10; ++i) {
    under_test.at(0).wake();
    under_test.at(0).wait(patience);
  }
  EXPECT_LT(steady_clock::now() - start, patience);
}

TEST_P(waiting_ends, an_idle_rank_sleeps_until_its_time_is_over) {
  job under_test(GetParam());
  if (under_test.declared().virtual_time) GTEST_SKIP() << "virtual_time is declared: nobody waits";
  constexpr int waits = 10;
  const auto start = steady_clock::now();
  for (int i = 0; i < waits; ++i) {
    message_list nothing;
    under_test.at(0).poll(nothing, 1);
    under_test.at(0).wait(milliseconds(5));
  }
  const auto elapsed = steady_clock::now() - start;
  EXPECT_GT(elapsed, milliseconds(5) * waits / 2) << "it may return early, but not always";
  EXPECT_LT(elapsed, patience);
}

enum class when_idle { polls, sleeps };

/// Answers every message; when none comes, polls on, or sleeps until one does: a lost wake-up shows as a rank that
/// sleeps for ever.
void answer(endpoint& endpoint, std::uint32_t messages, bool begins, when_idle when_idle) {
  message_list out;
  if (begins) out.push_back(numbered_message(endpoint.rank(), channel::system, 0, 8));
  const rank_id other(1 - endpoint.rank().value());
  endpoint.submit(other, out);
  for (std::uint32_t received = 0; received < messages;) {
    message_list arrived;
    if (!endpoint.poll(arrived, 4)) {
      if (const auto failure = endpoint.failed()) {
        ADD_FAILURE() << "rank " << endpoint.rank().value() << " after " << received
                      << " messages: " << failure->reason;
        return;
      }
      if (when_idle == when_idle::sleeps) {
        endpoint.wait(patience);
      } else {
        std::this_thread::yield();
      }
    }
    while (message_ptr m = arrived.pop_front()) {
      if (++received == messages && begins) break;
      m->header.source = endpoint.rank().value();
      out.push_back(std::move(m));
      endpoint.submit(other, out);
    }
  }
}

TEST_P(waiting_ends, a_sleeping_rank_wakes_when_a_message_arrives) {
  constexpr std::uint32_t rounds = 500;
  job under_test(GetParam());
  if (under_test.declared().virtual_time) GTEST_SKIP() << "virtual_time is declared: nobody waits";
  const auto start = steady_clock::now();
  under_test.on_every_rank(
      [&](std::uint32_t rank) { answer(under_test.at(rank), rounds, rank == 0, when_idle::sleeps); });
  EXPECT_LT(steady_clock::now() - start, patience);
}

TEST_P(waiting_ends, a_rank_that_has_polled_for_long_still_wakes_when_it_sleeps) {
  job under_test(GetParam());
  if (under_test.declared().virtual_time) GTEST_SKIP() << "virtual_time is declared: nobody waits";
  const auto start = steady_clock::now();
  under_test.on_every_rank([&](std::uint32_t rank) {
    for (int round = 0; round < 4; ++round) {
      answer(under_test.at(rank), 60, rank == 0, round % 2 == 0 ? when_idle::polls : when_idle::sleeps);
    }
  });
  EXPECT_LT(steady_clock::now() - start, patience);
}

TEST_P(waiting_ends, one_thread_sleeps_beside_another_that_submits_and_wakes) {
  job under_test(GetParam());
  if (under_test.declared().virtual_time) GTEST_SKIP() << "virtual_time is declared: nobody waits";
  constexpr int rounds = 200;
  endpoint& endpoint = under_test.at(0);
  const auto start = steady_clock::now();
  std::atomic<int> asked{0};
  std::atomic<int> woken{0};
  std::thread sleeper([&] {
    for (int i = 1; i <= rounds; ++i) {
      while (asked < i) endpoint.wait(patience);
      woken = i;
    }
  });
  for (int i = 1; i <= rounds; ++i) {
    asked = i;
    if (i % 2 == 0) {
      endpoint.wake();
    } else {
      message_list to_itself;
      to_itself.push_back(numbered_message(endpoint.rank(), channel::application, 0, 8));
      endpoint.submit(endpoint.rank(), to_itself);
    }
    while (woken < i) std::this_thread::yield();
    message_list arrived;
    endpoint.poll(arrived, 10);
    EXPECT_EQ(arrived.size(), static_cast<std::size_t>(i % 2));
  }
  sleeper.join();
  EXPECT_LT(steady_clock::now() - start, patience);
}

}  // namespace
}  // namespace nacre::transport::conformance
