// SPDX-License-Identifier: Apache-2.0
// The event queue against a sorted multimap, over seeds and over very different spreads of time.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>

#include "machine/event_queue.hpp"

namespace nacre::machine {
namespace {

void nothing(void*, std::uint64_t) {}

/// The waiting events by time; events of equal time are in no order.
class oracle {
 public:
  void push(const event& added) { waiting_[added.when_ns].insert(added.argument); }

  /// Returns whether `popped` is one of the earliest events, and removes it.
  [[nodiscard]] bool take(const event& popped) {
    const auto earliest = waiting_.begin();
    if (earliest == waiting_.end() || earliest->first != popped.when_ns) return false;
    if (earliest->second.erase(popped.argument) != 1) return false;
    if (earliest->second.empty()) waiting_.erase(earliest);
    return true;
  }
  [[nodiscard]] bool empty() const { return waiting_.empty(); }

 private:
  std::map<std::uint64_t, std::set<std::uint64_t>> waiting_;
};

/// Draws a distance below 2^55; most are below 2^12.
[[nodiscard]] std::uint64_t distance(rng& random) {
  const std::uint64_t bits = random.below(4) == 0 ? random.below(56) : random.below(13);
  return random.below(std::uint64_t{1} << bits);
}

TEST(event_queue_fuzz, pops_what_a_sorted_map_would_whatever_the_spread_of_times) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    rng random(seed);
    event_queue queue(random.fork(1));
    oracle expected;
    std::uint64_t pushed = 0;
    const std::uint64_t crowd = 1 + random.below(3000);
    for (int step = 0; step < 6000; ++step) {
      if (queue.size() < crowd && random.below(5) < 3) {
        const event added{queue.base_ns() + distance(random), &nothing, &queue, pushed++};
        queue.push(added);
        expected.push(added);
      } else if (!queue.empty()) {
        const event popped = queue.pop();
        ASSERT_TRUE(expected.take(popped)) << "seed " << seed << " step " << step << " time " << popped.when_ns;
        ASSERT_EQ(popped.when_ns, queue.base_ns());
        ASSERT_EQ(popped.subject, &queue);
        ASSERT_EQ(popped.run, &nothing);
      }
    }
    while (!queue.empty()) ASSERT_TRUE(expected.take(queue.pop())) << "seed " << seed;
    ASSERT_TRUE(expected.empty()) << "seed " << seed;
  }
}

TEST(event_queue_fuzz, the_far_end_of_time_is_in_order_too) {
  constexpr std::uint64_t end = ~std::uint64_t{0};
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    rng random(seed);
    event_queue queue(random.fork(1));
    oracle expected;
    for (std::uint64_t i = 0; i < 500; ++i) {
      const event added{i % 3 == 0 ? end - random.below(1 << 20) : random.next(), &nothing, nullptr, i};
      queue.push(added);
      expected.push(added);
    }
    while (!queue.empty()) ASSERT_TRUE(expected.take(queue.pop())) << "seed " << seed;
    ASSERT_TRUE(expected.empty());
  }
}

}  // namespace
}  // namespace nacre::machine
