// SPDX-License-Identifier: Apache-2.0
// biased_lock excludes its owner and the other threads from each other, and asymmetric_fence is what that rests on.
#include "base/biased_lock.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "base/sanitized.hpp"

namespace nacre {
namespace {

constexpr int rounds = tests::sanitized ? 2000 : 20000;

/// Lets two threads begin each round at one time.
class start_line {
 public:
  void wait_for(int round) noexcept {
    present_.fetch_add(1);
    while (present_.load() < 2 * round) std::this_thread::yield();
  }

 private:
  std::atomic<int> present_{0};
};

void let_others_run() {
  for (int each = 0; each < 2000; ++each) std::this_thread::yield();
}

TEST(asymmetric_fence, one_of_two_threads_that_store_and_then_load_sees_the_other) {
  std::atomic<int> often{0}, seldom{0};
  std::vector<int> seen_often(rounds), seen_seldom(rounds);
  start_line line;
  std::thread other([&] {
    for (int each = 0; each < rounds; ++each) {
      line.wait_for(each + 1);
      seldom.store(each + 1, std::memory_order_relaxed);
      asymmetric_fence::heavy();
      seen_seldom[static_cast<std::size_t>(each)] = often.load(std::memory_order_relaxed);
    }
  });
  for (int each = 0; each < rounds; ++each) {
    line.wait_for(each + 1);
    often.store(each + 1, std::memory_order_relaxed);
    asymmetric_fence::light();
    seen_often[static_cast<std::size_t>(each)] = seldom.load(std::memory_order_relaxed);
  }
  other.join();
  for (int each = 0; each < rounds; ++each) {
    const auto index = static_cast<std::size_t>(each);
    ASSERT_TRUE(seen_often[index] == each + 1 || seen_seldom[index] == each + 1)
        << "neither saw the other in round " << each;
  }
}

TEST(biased_lock, counts_of_its_owner_and_of_others_add_up) {
  biased_lock lock;
  std::uint64_t count = 0;  // under the lock
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> others_have{0};
  std::vector<std::thread> others;
  for (int each = 0; each < 2; ++each) {
    others.emplace_back([&] {
      for (int i = 0; i < rounds; ++i) {
        const std::scoped_lock held(lock);
        ++count;
        others_have.fetch_add(1);
      }
    });
  }
  std::uint64_t owner_has = 0;
  std::thread owner([&] {
    while (!stop) {
      const biased_lock::owner_guard held(lock);
      ++count;
      ++owner_has;
    }
  });
  for (std::thread& each : others) each.join();
  stop = true;
  owner.join();
  EXPECT_EQ(others_have.load(), 2U * rounds);
  EXPECT_EQ(count, others_have.load() + owner_has) << "two were in at one time";
}

TEST(biased_lock, another_thread_waits_until_the_owner_is_out) {
  biased_lock lock;
  std::atomic<bool> asked{false};
  bool left = false;  // under the lock
  lock.lock_as_owner();
  std::thread other([&] {
    asked = true;
    const std::scoped_lock held(lock);
    EXPECT_TRUE(left) << "it came in while the owner was";
  });
  while (!asked) std::this_thread::yield();
  let_others_run();
  left = true;
  lock.unlock_as_owner();
  other.join();
}

TEST(biased_lock, the_owner_waits_until_another_thread_is_out) {
  biased_lock lock;
  std::atomic<bool> inside{false};
  bool left = false;  // under the lock
  std::thread other([&] {
    const std::scoped_lock held(lock);
    inside = true;
    let_others_run();
    left = true;
  });
  while (!inside) std::this_thread::yield();
  {
    const biased_lock::owner_guard held(lock);
    EXPECT_TRUE(left) << "it came in while another was";
  }
  other.join();
}

}  // namespace
}  // namespace nacre
