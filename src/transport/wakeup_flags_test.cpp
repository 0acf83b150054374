// SPDX-License-Identifier: Apache-2.0
// The agreement between wait and wake: who rings, who stays awake, and that no wake is lost.
#include "transport/wakeup_flags.hpp"

#include <poll.h>

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "transport/wakeup_event.hpp"

namespace nacre::transport {
namespace {

TEST(wakeup_flags, of_the_wakes_of_one_sleep_one_rings) {
  wakeup_flags flags;
  EXPECT_FALSE(flags.note_wake()) << "no thread sleeps";
  flags.begin_wait();
  EXPECT_FALSE(flags.nothing_waits()) << "the wake came before";
  flags.end_wait();
  flags.begin_wait();
  EXPECT_TRUE(flags.nothing_waits());
  EXPECT_TRUE(flags.note_wake());
  EXPECT_FALSE(flags.note_wake());
  flags.end_wait();
  EXPECT_FALSE(flags.note_wake());
}

TEST(wakeup_flags, a_message_to_the_own_rank_keeps_awake_until_it_is_taken) {
  wakeup_flags flags;
  flags.note_own();
  for (int i = 0; i < 2; ++i) {
    flags.begin_wait();
    EXPECT_FALSE(flags.nothing_waits());
    flags.end_wait();
  }
  message_list messages;
  message_list arrived;
  EXPECT_FALSE(flags.take_own(messages, arrived)) << "there is none yet";
  messages.push_back(make_message(0));
  EXPECT_TRUE(flags.take_own(messages, arrived));
  EXPECT_TRUE(messages.empty());
  EXPECT_EQ(arrived.size(), 1U);
  flags.begin_wait();
  EXPECT_TRUE(flags.nothing_waits());
  flags.end_wait();
}

TEST(wakeup_flags, no_wake_is_lost_between_two_threads) {
  constexpr int rounds = 20'000;
  wakeup_flags flags;
  wakeup_event doorbell;
  std::atomic<int> asked{0};
  std::atomic<int> answered{0};
  std::thread waker([&] {
    for (int round = 1; round <= rounds; ++round) {
      asked.store(round, std::memory_order_relaxed);  // the waiter sees it by the exchange in end_wait
      if (flags.note_wake()) doorbell.ring();
      while (answered.load() < round) std::this_thread::yield();
    }
  });
  int slept_too_long = 0;
  for (int round = 1; round <= rounds; ++round) {
    while (asked.load(std::memory_order_relaxed) < round) {
      flags.begin_wait();
      if (flags.nothing_waits()) {
        pollfd watched{.fd = doorbell.descriptor(), .events = POLLIN, .revents = 0};
        if (::poll(&watched, 1, 10'000) == 0) ++slept_too_long;
        doorbell.silence();
      }
      flags.end_wait();
    }
    answered.store(round);
  }
  waker.join();
  EXPECT_EQ(slept_too_long, 0);
}

}  // namespace
}  // namespace nacre::transport
