// SPDX-License-Identifier: Apache-2.0
// The order in which a worker takes ready items.
#include "balance/scheduler/steal.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace nacre {
namespace {

/// Runs what is no object.
void run_plain(work& /*item*/, thread_context& /*on*/) {}
struct plain_item final : work {
  plain_item() : work(&run_plain) {}
};

constexpr worker_id own_thread(0), application_thread(1), poll_thread(2);

TEST(steal_scheduler, starts_the_items_of_one_thread_in_the_order_made_ready) {
  steal_scheduler order({.workers = 1});
  std::vector<plain_item> items(200);
  for (plain_item& each : items) order.push(own_thread, each);
  for (plain_item& each : items) EXPECT_EQ(order.pop(own_thread), &each);
  EXPECT_EQ(order.pop(own_thread), nullptr);
}

TEST(steal_scheduler, comes_to_the_threads_without_a_worker_though_the_own_queue_never_ends) {
  steal_scheduler order({.workers = 1});
  plain_item endless[2], sent, arrived;
  for (plain_item& each : endless) order.push(own_thread, each);
  order.push(application_thread, sent);
  order.push(poll_thread, arrived);
  std::vector<work*> others;
  for (std::uint32_t pop_number = 0; pop_number < 2 * steal_scheduler::pops_between_looks; ++pop_number) {
    work* const next = order.pop(own_thread);
    if (next == &endless[0] || next == &endless[1]) {
      order.push(own_thread, *next);
    } else {
      others.push_back(next);
    }
  }
  EXPECT_EQ(others, (std::vector<work*>{&sent, &arrived}));
}

using pressure = scheduler::pressure;

TEST(steal_scheduler, under_a_backlog_the_newest_come_first_yet_what_one_item_makes_in_its_order) {
  steal_scheduler order({.workers = 1});
  plain_item old[2], first[3], second[2];
  for (plain_item& each : old) order.push(own_thread, each);
  order.set_pressure(own_thread, pressure::backlog);
  EXPECT_EQ(order.pop(own_thread), &old[0]);
  for (plain_item& each : first) order.push_made(own_thread, each);
  EXPECT_EQ(order.pop(own_thread), &first[0]);
  for (plain_item& each : second) order.push_made(own_thread, each);
  for (work* const next : std::vector<work*>{&second[0], &second[1], &first[1], &first[2], &old[1]}) {
    EXPECT_EQ(order.pop(own_thread), next);
  }
  EXPECT_EQ(order.pop(own_thread), nullptr);
}

TEST(steal_scheduler, a_worker_finds_the_ready_items_of_any_thread_and_those_made_on_another_worker) {
  constexpr worker_id other(1);
  steal_scheduler order({.workers = 2});
  plain_item ready, begun, result[2];
  for (std::uint32_t thread_index = 0; thread_index < 4; ++thread_index) {
    order.push(worker_id(thread_index), ready);
    EXPECT_EQ(order.pop(own_thread), &ready) << thread_index;
    EXPECT_EQ(order.pop(own_thread), nullptr);
  }
  order.push(other, begun);
  order.set_pressure(other, pressure::backlog);
  ASSERT_EQ(order.pop(other), &begun);
  for (plain_item& each : result) order.push_made(other, each);
  ASSERT_EQ(order.pop(other), &result[0]);
  EXPECT_EQ(order.pop(own_thread), &result[1]);
  EXPECT_EQ(order.pop(own_thread), nullptr);
}

TEST(steal_scheduler, takes_the_oldest_first_again_once_the_backlog_is_gone) {
  steal_scheduler order({.workers = 1});
  plain_item result[2], later[3];
  order.set_pressure(own_thread, pressure::backlog);
  for (plain_item& each : result) order.push_made(own_thread, each);
  order.set_pressure(own_thread, pressure::none);
  EXPECT_EQ(order.pop(own_thread), &result[0]);
  EXPECT_EQ(order.pop(own_thread), &result[1]);
  EXPECT_EQ(order.pop(own_thread), nullptr);
  order.push_made(own_thread, later[0]);
  order.push_made(own_thread, later[1]);
  EXPECT_EQ(order.pop(own_thread), &later[0]);
  order.push_made(own_thread, later[2]);
  EXPECT_EQ(order.pop(own_thread), &later[1]);
}

TEST(steal_scheduler, what_a_backlog_has_begun_is_ended_newest_first_when_that_is_gone) {
  steal_scheduler order({.workers = 1});
  plain_item result[3], later[2];
  order.set_pressure(own_thread, pressure::backlog);
  for (plain_item& each : result) order.push_made(own_thread, each);
  order.set_pressure(own_thread, pressure::none);
  EXPECT_EQ(order.pop(own_thread), &result[0]);
  for (plain_item& each : later) order.push_made(own_thread, each);
  for (work* const next : std::vector<work*>{&later[0], &later[1], &result[1], &result[2]})
    EXPECT_EQ(order.pop(own_thread), next);
  EXPECT_EQ(order.pop(own_thread), nullptr);
}

TEST(steal_scheduler, new_objects_come_newest_first_yet_what_one_item_makes_in_its_order) {
  steal_scheduler order({.workers = 1});
  plain_item old[2], first[3], second[2];
  for (plain_item& each : old) order.push(own_thread, each);
  EXPECT_EQ(order.pop(own_thread), &old[0]);
  for (plain_item& each : first) order.push_first(own_thread, each);
  EXPECT_EQ(order.pop(own_thread), &first[0]);
  for (plain_item& each : second) order.push_first(own_thread, each);
  for (work* const next : std::vector<work*>{&second[0], &second[1], &first[1], &first[2], &old[1]}) {
    EXPECT_EQ(order.pop(own_thread), next);
  }
  EXPECT_EQ(order.pop(own_thread), nullptr);
}

TEST(steal_scheduler, messages_to_objects_that_exist_keep_their_order_beside_new_objects) {
  steal_scheduler order({.workers = 1});
  plain_item old, newborn, sent[3];
  order.push(own_thread, old);
  EXPECT_EQ(order.pop(own_thread), &old);
  order.push_made(own_thread, sent[0]);
  order.push_first(own_thread, newborn);
  order.push_made(own_thread, sent[1]);
  EXPECT_EQ(order.pop(own_thread), &newborn);
  order.push_made(own_thread, sent[2]);
  for (work& next : sent) EXPECT_EQ(order.pop(own_thread), &next);
  EXPECT_EQ(order.pop(own_thread), nullptr);
}

TEST(steal_scheduler, new_objects_however_many_keep_nobody_waiting) {
  steal_scheduler order({.workers = 1});
  plain_item newborn, old, sent;
  order.push(own_thread, old);
  order.push(application_thread, sent);
  order.push_first(own_thread, newborn);
  std::vector<work*> others;
  for (std::uint32_t pop_number = 0; pop_number < 2 * steal_scheduler::pops_between_looks; ++pop_number) {
    work* const next = order.pop(own_thread);
    if (next != &newborn) others.push_back(next);
    for (int twice = 0; twice < 2; ++twice) order.push_first(own_thread, newborn);  // ever more of them
  }
  EXPECT_EQ(others, (std::vector<work*>{&sent, &old}));
}

TEST(steal_scheduler, new_objects_run_between_the_pops_at_which_a_worker_takes_the_oldest) {
  steal_scheduler order({.workers = 1});
  constexpr std::uint32_t looks = 5;
  plain_item newborn, old[4 * looks];
  for (plain_item& each : old) order.push(own_thread, each);
  order.push_first(own_thread, newborn);
  std::vector<std::uint32_t> pops_of_old;
  for (std::uint32_t pop_number = 1; pop_number <= looks * steal_scheduler::pops_between_looks; ++pop_number) {
    if (order.pop(own_thread) == &newborn) {
      order.push_first(own_thread, newborn);
    } else {
      pops_of_old.push_back(pop_number);
    }
  }
  ASSERT_EQ(pops_of_old.size(), looks);
  for (std::uint32_t look = 1; look <= looks; ++look) {
    EXPECT_EQ(pops_of_old[look - 1], look * steal_scheduler::pops_between_looks);
  }
}

TEST(steal_scheduler, what_new_objects_send_to_those_that_exist_does_not_pile_up) {
  steal_scheduler order({.workers = 1});
  constexpr std::size_t chains = 100;
  plain_item newborn, result;
  for (std::size_t n = 0; n < chains; ++n) order.push_first(own_thread, newborn);
  std::size_t waiting = 0, most = 0;
  for (int pop_number = 0; pop_number < 100'000; ++pop_number) {
    if (order.pop(own_thread) == &result) {
      --waiting;
    } else {
      order.push_first(own_thread, newborn);
      order.push_made(own_thread, result);
      most = std::max(most, ++waiting);
    }
  }
  EXPECT_LE(most, 2 * chains + 2 * steal_scheduler::pops_between_looks);
}

TEST(steal_scheduler, new_objects_do_not_pile_up_when_their_maker_sends_to_itself) {
  steal_scheduler order({.workers = 1});
  constexpr std::size_t at_once = 256;
  plain_item maker, newborn;
  order.push_made(own_thread, maker);
  std::size_t waiting = 0, most = 0;
  for (int pop = 0; pop < 100'000; ++pop) {
    if (order.pop(own_thread) == &newborn) {
      --waiting;
    } else {
      for (std::size_t n = 0; n < at_once; ++n) order.push_first(own_thread, newborn);
      order.push_made(own_thread, maker);
      most = std::max(most, waiting += at_once);
    }
  }
  EXPECT_LE(most, 3 * at_once);
}

/// Sees everything that waits.
struct witness final : work_visitor {
  verdict look(work& plain_item) override {
    seen.push_back(&plain_item);
    return verdict::go_on;
  }
  void taken_out(work&) override {}
  std::vector<work*> seen;
};

TEST(steal_scheduler, shows_the_oldest_new_objects_first) {
  const auto anything = [](work&, thread_context&) {};
  steal_scheduler order({.workers = 1, .readable = anything});
  struct readable_item final : work {
    explicit readable_item(runner r) : work(r) {}
  };
  readable_item root(anything), first[2]{readable_item(anything), readable_item(anything)}, second(anything);
  order.push(own_thread, root);
  EXPECT_EQ(order.pop(own_thread), &root);
  for (work& each : first) order.push_first(own_thread, each);
  EXPECT_EQ(order.pop(own_thread), &first[0]);
  order.push_first(own_thread, second);
  EXPECT_EQ(order.pop(own_thread), &second);
  order.push_first(own_thread, root);
  witness all;
  EXPECT_TRUE(order.visit_waiting(all, 10));
  EXPECT_EQ(all.seen, (std::vector<work*>{&first[1], &root})) << "also what the running handler has just made";
}

/// Runs a tree in which each node has `fan` children. Returns the greatest number of nodes that waited at a time.
std::size_t most_waiting(pressure now, std::size_t fan, int depth) {
  struct node final : work {
    explicit node(int left) : work(&run_plain), height(left) {}
    int height;
  };
  steal_scheduler order({.workers = 1});
  order.set_pressure(own_thread, now);
  order.push(own_thread, *new node(depth));
  std::size_t waiting = 1, most = 1;
  while (work* const next = order.pop(own_thread)) {
    const auto* const position = static_cast<node*>(next);
    --waiting;
    for (std::size_t i = 0; position->height != 0 && i < fan; ++i, ++waiting)
      order.push_made(own_thread, *new node(position->height - 1));
    delete position;
    most = std::max(most, waiting);
  }
  EXPECT_EQ(waiting, 0U);
  return most;
}

TEST(steal_scheduler, under_a_backlog_a_tree_needs_room_for_its_depth_instead_of_its_width) {
  EXPECT_GE(most_waiting(pressure::none, 4, 9), 200'000U);
  EXPECT_LE(most_waiting(pressure::backlog, 4, 9), 64U);
}

TEST(steal_scheduler, under_a_backlog_the_oldest_are_not_forgotten_for_work_that_renews_itself) {
  steal_scheduler order({.workers = 1});
  plain_item endless, old, sent;
  order.push(own_thread, old);
  order.push(application_thread, sent);
  order.set_pressure(own_thread, pressure::backlog);
  order.push_made(own_thread, endless);
  std::vector<work*> others;
  for (std::uint32_t pop_number = 0; pop_number < 3 * steal_scheduler::pops_between_looks; ++pop_number) {
    work* const next = order.pop(own_thread);
    if (next == &endless) {
      order.push_made(own_thread, endless);
    } else {
      others.push_back(next);
    }
  }
  EXPECT_EQ(others, (std::vector<work*>{&sent, &old}));
}

TEST(steal_scheduler, a_rank_that_cannot_send_runs_what_arrives_and_leaves_what_it_has_made) {
  steal_scheduler order({.workers = 2});
  constexpr worker_id other(1), poll_thread(3);
  plain_item arrived[3], result[2];
  order.set_pressure(own_thread, pressure::unsent);
  order.push(own_thread, arrived[0]);
  order.push(other, arrived[1]);
  order.push(poll_thread, arrived[2]);
  for (plain_item& each : result) order.push_made(own_thread, each);
  for (work* const next : std::vector<work*>{&arrived[2], &arrived[0], &arrived[1]})
    EXPECT_EQ(order.pop(own_thread), next);
  EXPECT_EQ(order.pop(own_thread), nullptr);
  order.set_pressure(other, pressure::unsent);
  EXPECT_EQ(order.pop(other), nullptr) << "neither does a neighbour steal it";
  order.set_pressure(other, pressure::none);
  EXPECT_EQ(order.pop(other), &result[1]) << "the oldest of what was made last first";
  order.set_pressure(own_thread, pressure::none);
  EXPECT_EQ(order.pop(own_thread), &result[0]);
}

}  // namespace
}  // namespace nacre
