// SPDX-License-Identifier: Apache-2.0
// The order of the scheduler `priority`, against a list that is searched from end to end.
#include "balance/scheduler/priority.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <limits>
#include <vector>

#include <nacre/rng.hpp>

namespace nacre {
namespace {

using pressure = scheduler::pressure;

struct item final : work {
  explicit item(double urgency) : work(nullptr), priority(urgency) {}
  double priority;
};

priority_scheduler made(std::uint32_t workers) {
  return priority_scheduler({.workers = workers, .priority_of = [](const work& subject) {
                               return static_cast<const item&>(subject).priority;
                             }});
}

/// Takes the first among those that are most urgent out of the list.
work* take_by_search(std::vector<item*>& items) {
  if (items.empty()) return nullptr;
  auto best = items.begin();
  for (auto each = items.begin(); each != items.end(); ++each) {
    if ((*each)->priority > (*best)->priority) best = each;
  }
  item* const taken = *best;
  items.erase(best);
  return taken;
}

TEST(priority_scheduler, gives_the_oldest_of_the_most_urgent_whoever_pushed_it) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    rng random(seed);
    priority_scheduler order = made(2);
    std::deque<item> items;
    std::vector<item*> inside;
    for (int step = 0; step < 200; ++step) {
      const worker_id worker(static_cast<std::uint32_t>(random.below(4)));
      if (random.below(5) < 3) {
        inside.push_back(&items.emplace_back(static_cast<double>(random.below(6)) - 2));
        if (random.below(2) == 0) {
          order.push(worker, *inside.back());
        } else {
          order.push_made(worker, *inside.back());
        }
        EXPECT_EQ(order.waiting(worker), inside.size());
      } else {
        ASSERT_EQ(order.pop(worker_id(worker.value() % 2)), take_by_search(inside)) << "seed " << seed;
      }
    }
  }
}

TEST(priority_scheduler, a_priority_that_is_no_number_counts_as_none) {
  priority_scheduler order = made(1);
  item odd(std::numeric_limits<double>::quiet_NaN()), low(-1), high(1);
  for (item* each : {&odd, &low, &high}) order.push(worker_id(0), *each);
  EXPECT_EQ(order.pop(worker_id(0)), &high);
  EXPECT_EQ(order.pop(worker_id(0)), &odd);
  EXPECT_EQ(order.pop(worker_id(0)), &low);
  EXPECT_EQ(order.pop(worker_id(0)), nullptr);
}

TEST(priority_scheduler, a_rank_that_cannot_send_leaves_what_it_has_made_however_urgent) {
  priority_scheduler order = made(2);
  item arrived(0), made_now(5), urgent(9);
  order.set_pressure(worker_id(0), pressure::unsent);
  order.push_made(worker_id(0), made_now);
  order.push(worker_id(0), arrived);
  EXPECT_EQ(order.pop(worker_id(0)), &arrived);
  EXPECT_EQ(order.pop(worker_id(0)), nullptr);
  order.push(worker_id(1), urgent);
  order.set_pressure(worker_id(0), pressure::none);
  EXPECT_EQ(order.pop(worker_id(0)), &urgent);
  EXPECT_EQ(order.pop(worker_id(0)), &made_now);
}

}  // namespace
}  // namespace nacre
