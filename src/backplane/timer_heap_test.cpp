// SPDX-License-Identifier: Apache-2.0
// The promises of the heap of timers, against a sorted list.
#include <nacre/rng.hpp>

#include "backplane/timer_heap.hpp"

#include <gtest/gtest.h>

#include <array>
#include <iterator>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace nacre {
namespace {

using instant = timer_heap::instant;

struct silent_timer final : timer {
  silent_timer() : timer(nullptr) {}
};

TEST(timer_heap, gives_timers_when_they_are_due_and_not_before) {
  timer_heap heap;
  std::array<silent_timer, 3> all;
  EXPECT_EQ(heap.due(), instant::max());
  heap.set(all[0], instant(30));
  heap.set(all[1], instant(10));
  heap.set(all[2], instant(20));
  EXPECT_EQ(heap.due(), instant(10));
  EXPECT_EQ(heap.take_due(instant(9)), nullptr);
  EXPECT_EQ(heap.take_due(instant(25)), &all[1]);
  EXPECT_EQ(heap.take_due(instant(25)), &all[2]);
  EXPECT_EQ(heap.take_due(instant(25)), nullptr);
  EXPECT_EQ(heap.due(), instant(30));
}

TEST(timer_heap, keeps_the_order_of_setting_at_one_instant) {
  timer_heap heap;
  std::vector<silent_timer> all(1000);
  for (silent_timer& each : all) heap.set(each, instant(7));
  for (silent_timer& each : all) EXPECT_EQ(heap.take_due(instant(7)), &each);
  EXPECT_TRUE(heap.empty());
}

TEST(timer_heap, removes_a_timer_once_and_lets_it_be_set_again) {
  timer_heap heap;
  silent_timer one;
  EXPECT_FALSE(heap.remove(one));
  heap.set(one, instant(1));
  EXPECT_TRUE(heap.remove(one));
  EXPECT_FALSE(heap.remove(one));
  EXPECT_EQ(heap.due(), instant::max());
  heap.set(one, instant(2));
  EXPECT_EQ(heap.take_due(instant(2)), &one);
  EXPECT_FALSE(heap.remove(one));
}

TEST(timer_heap, does_what_a_sorted_list_does_for_any_order_of_calls) {
  using list = std::multimap<instant, timer*>;
  rng random(20);
  for (int round = 0; round < 50; ++round) {
    timer_heap heap;
    list sorted;  // equal keys keep the order of insertion
    std::vector<silent_timer> all(200);
    std::map<timer*, list::iterator> places;
    instant now(0);
    for (int step = 0; step < 2000; ++step) {
      silent_timer& chosen = all[random.below(all.size())];
      const auto place = places.find(&chosen);
      if (random.below(4) == 0) {
        now += instant(static_cast<std::int64_t>(random.below(20)));
        for (timer* next = heap.take_due(now); next != nullptr; next = heap.take_due(now)) {
          ASSERT_FALSE(sorted.empty());
          ASSERT_EQ(next, sorted.begin()->second);
          places.erase(next);
          sorted.erase(sorted.begin());
        }
        ASSERT_TRUE(sorted.empty() || sorted.begin()->first > now);
      } else if (place == places.end()) {
        const instant due = now + instant(static_cast<std::int64_t>(random.below(100)));
        heap.set(chosen, due);
        places[&chosen] = sorted.emplace(due, &chosen);
      } else {
        ASSERT_TRUE(heap.remove(chosen));
        sorted.erase(place->second);
        places.erase(place);
      }
      ASSERT_EQ(heap.size(), sorted.size());
      ASSERT_EQ(heap.due(), sorted.empty() ? instant::max() : sorted.begin()->first);
    }
  }
}

}  // namespace
}  // namespace nacre
