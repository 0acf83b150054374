// SPDX-License-Identifier: Apache-2.0
// The order in which a worker takes what is ready.
#include "balance/scheduler/steal.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace nacre {
namespace {

struct item final : work {
  item() : work(nullptr) {}
};

constexpr worker_id self(0), application(1), poll_loop(2);

TEST(steal_scheduler, starts_what_one_lane_made_ready_in_its_order) {
  steal_scheduler order(1, 1);
  std::vector<item> items(200);
  for (item& each : items) order.push(self, each);
  for (item& each : items) EXPECT_EQ(order.pop(self), &each);
  EXPECT_EQ(order.pop(self), nullptr);
}

TEST(steal_scheduler, comes_to_the_lanes_without_a_worker_though_the_own_never_ends) {
  steal_scheduler order(1, 1);
  item endless[2], sent, arrived;
  for (item& each : endless) order.push(self, each);
  order.push(application, sent);
  order.push(poll_loop, arrived);
  std::vector<work*> others;
  for (std::uint32_t turn = 0; turn < 2 * steal_scheduler::turns_between_looks; ++turn) {
    work* const next = order.pop(self);
    if (next == &endless[0] || next == &endless[1]) {
      order.push(self, *next);
    } else {
      others.push_back(next);
    }
  }
  EXPECT_EQ(others, (std::vector<work*>{&sent, &arrived}));
}

}  // namespace
}  // namespace nacre
