// SPDX-License-Identifier: Apache-2.0
// The order in which a worker takes objects that its handlers have sent to, and coroutines that go on.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "balance/scheduler/steal.hpp"

namespace nacre {
namespace {

constexpr worker_id warm_thread(0), main_thread(1);

/// No object.
struct rank_item final : work {
  rank_item() : work(nullptr) {}
};
void nothing(work&, thread_context&) {}
/// An activation of an object.
struct object_item final : work {
  object_item() : work(&nothing) {}
};
const scheduler_site one_worker{.workers = 1, .readable = &nothing};
/// So many that what handlers make ready is warm.
constexpr std::size_t many = steal_scheduler::warm_from;

/// Gives `order` that many items of a worker, the first of them first.
std::vector<rank_item> fill(steal_scheduler& order, worker_id worker) {
  std::vector<rank_item> items(many);
  for (rank_item& each : items) order.push(worker, each);
  return items;
}

TEST(steal_scheduler, few_items_come_in_the_order_made_ready) {
  steal_scheduler order(one_worker);
  std::vector<object_item> sent(many);
  for (object_item& each : sent) order.push_made(warm_thread, each);
  for (object_item& each : sent) EXPECT_EQ(order.pop(warm_thread), &each);
}

TEST(steal_scheduler, objects_that_a_handler_has_sent_to_and_coroutines_that_go_on_come_first_the_newest_before) {
  steal_scheduler order(one_worker);
  std::vector<rank_item> old = fill(order, warm_thread);
  object_item sent[2];
  rank_item to_rank, resumed;
  order.push_made(warm_thread, sent[0]);
  order.push_made(warm_thread, to_rank);
  order.push_resumed(warm_thread, resumed);
  order.push_made(warm_thread, sent[1]);
  std::vector<work*> run;
  while (work* const next = order.pop(warm_thread)) {
    if (next >= &old.front() && next <= &old.back()) continue;
    run.push_back(next);
  }
  EXPECT_EQ(run, (std::vector<work*>{&sent[1], &resumed, &sent[0], &to_rank}));
}

TEST(steal_scheduler, objects_that_send_to_each_other_for_ever_keep_nobody_waiting) {
  steal_scheduler order(one_worker);
  const std::vector<rank_item> old = fill(order, warm_thread);
  object_item busy, below;
  rank_item sent;
  order.push_made(warm_thread, below);
  order.push_made(warm_thread, busy);
  order.push(main_thread, sent);
  std::vector<work*> others;
  for (std::size_t pop_number = 0; pop_number < 2 * many * steal_scheduler::pops_between_looks; ++pop_number) {
    work* const next = order.pop(warm_thread);
    if (next == &busy) {
      order.push_made(warm_thread, busy);
    } else if (next == &sent || next == &below) {
      others.push_back(next);
    } else {
      order.push(warm_thread, *next);  // what arrives does not end either
    }
  }
  std::sort(others.begin(), others.end());
  std::vector<work*> both{&sent, &below};
  std::sort(both.begin(), both.end());
  EXPECT_EQ(others, both);
}

TEST(steal_scheduler, what_arrives_does_not_pile_up_beside_objects_that_send_to_each_other) {
  steal_scheduler order(one_worker);
  const std::vector<rank_item> old = fill(order, warm_thread);
  object_item busy, arrived;
  order.push_made(warm_thread, busy);
  std::size_t waiting = many, most = 0;
  for (int pop_number = 0; pop_number < 100'000; ++pop_number) {
    if (order.pop(warm_thread) == &busy) {
      order.push_made(warm_thread, busy);
      order.push(warm_thread, arrived);
      most = std::max(most, ++waiting);
    } else {
      --waiting;
    }
  }
  EXPECT_LE(most, many + 2 * steal_scheduler::pops_between_looks);
}

TEST(steal_scheduler, while_the_rank_cannot_send_objects_and_coroutines_from_before_run) {
  steal_scheduler order(one_worker);
  const std::vector<rank_item> old = fill(order, warm_thread);
  object_item sent, result;
  rank_item resumed, later;
  order.push_made(warm_thread, sent);
  order.push_resumed(warm_thread, resumed);
  order.set_pressure(warm_thread, scheduler::pressure::unsent);
  order.push_made(warm_thread, result);
  order.push_resumed(warm_thread, later);
  std::size_t run = 0;
  for (; work* const next = order.pop(warm_thread); ++run) EXPECT_NE(next, &result);
  EXPECT_EQ(run, many + 3);
  order.set_pressure(warm_thread, scheduler::pressure::none);
  EXPECT_EQ(order.pop(warm_thread), &result);
}

TEST(steal_scheduler, idle_workers_take_the_oldest_of_the_objects_that_another_worker_has_sent_to) {
  constexpr worker_id other(1);
  steal_scheduler order({.workers = 2, .readable = &nothing});
  const std::vector<rank_item> old = fill(order, other);
  object_item sent[3];
  for (work& each : sent) order.push_made(other, each);
  for (std::size_t each = 0; each < many; ++each) EXPECT_NE(order.pop(warm_thread), nullptr);
  EXPECT_EQ(order.pop(warm_thread), &sent[0]);
  EXPECT_EQ(order.pop(other), &sent[2]);
  EXPECT_EQ(order.pop(warm_thread), &sent[1]);
  EXPECT_EQ(order.waiting(other), 0U);
  EXPECT_EQ(order.pop(warm_thread), nullptr);
}

}  // namespace
}  // namespace nacre
