// SPDX-License-Identifier: Apache-2.0
// A thread that shares its processor with another one loses it.
#include "exec/preemption.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace nacre {
namespace {

void stay_on_this_processor() {
  cpu_set_t processors;
  CPU_ZERO(&processors);
  CPU_SET(sched_getcpu(), &processors);
  ASSERT_EQ(sched_setaffinity(0, sizeof processors, &processors), 0);
}

TEST(preemption_watch, tells_when_another_thread_has_had_the_processor) {
  std::atomic<bool> is_over = false;
  bool lost = false;
  std::thread watching([&] {
    stay_on_this_processor();
    std::thread other([&] {  // inherits the processor
      while (!is_over.load(std::memory_order_relaxed)) continue;
    });
    preemption_watch watch;
    static_cast<void>(watch.lost_processor());
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!lost && std::chrono::steady_clock::now() < end) lost = watch.lost_processor();
    is_over = true;
    other.join();
  });
  watching.join();
  EXPECT_TRUE(lost);
}

}  // namespace
}  // namespace nacre
