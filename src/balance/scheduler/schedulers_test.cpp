// SPDX-License-Identifier: Apache-2.0
// The promises of all built-in schedulers, and the order of each.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <nacre/rng.hpp>

#include "balance/scheduler/registry.hpp"

namespace nacre {
namespace {

using pressure = scheduler::pressure;

struct counted_item final : work {
  counted_item() : work(nullptr) {}
  std::atomic<int> taken{0};
  std::uint32_t made_by = 0;
};

std::unique_ptr<scheduler> made_by_name(const std::string& name, std::uint32_t workers, std::uint64_t seed = 1) {
  const config configuration{{"scheduler", scheduler_options()}};
  return make_scheduler(name, configuration, {.workers = workers, .seed = seed});
}

class every_scheduler : public testing::TestWithParam<const char*> {};

TEST_P(every_scheduler, gives_each_item_once_and_says_that_there_is_none_only_when_that_is_so) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    rng random(seed);
    const auto workers = static_cast<std::uint32_t>(1 + random.below(4));
    const std::unique_ptr<scheduler> order = made_by_name(GetParam(), workers, seed);
    std::deque<counted_item> items;
    std::set<work*> inside;
    for (int step = 0; step < 300; ++step) {
      const worker_id worker(static_cast<std::uint32_t>(random.below(workers + threads_beside_workers)));
      const bool is_worker = worker.value() < workers;
      if (random.below(40) == 0 && is_worker) {
        order->set_pressure(worker, random.below(2) == 0 ? pressure::backlog : pressure::none);
      } else if (random.below(2) == 0) {
        counted_item& fresh = items.emplace_back();
        inside.insert(&fresh);
        if (is_worker && random.below(2) == 0) {
          order->push_made(worker, fresh);
        } else {
          order->push(worker, fresh);
        }
      } else if (is_worker) {
        work* const next = order->pop(worker);
        if (next == nullptr && inside.empty()) continue;
        // Items that another worker's running handler makes may be invisible until that handler has ended.
        if (next == nullptr && std::string(GetParam()) == "steal") continue;
        ASSERT_EQ(inside.erase(next), 1u) << "seed " << seed << " step " << step;
      }
    }
    for (std::uint32_t w = 0; w < workers; ++w) order->set_pressure(worker_id(w), pressure::none);
    for (std::uint32_t w = 0; w < workers; ++w) {
      while (work* const next = order->pop(worker_id(w))) ASSERT_EQ(inside.erase(next), 1u) << "seed " << seed;
    }
    EXPECT_TRUE(inside.empty()) << "seed " << seed;
  }
}

TEST_P(every_scheduler, gives_each_item_once_to_workers_that_run_at_the_same_time) {
  constexpr std::uint32_t workers = 3;
  constexpr std::size_t count = 20'000;
  const std::unique_ptr<scheduler> order = made_by_name(GetParam(), workers);
  std::vector<counted_item> items(count * (workers + 1));
  std::atomic<std::size_t> left{items.size()};
  std::vector<std::thread> threads;
  for (std::uint32_t w = 0; w < workers; ++w) {
    threads.emplace_back([&, w] {
      const worker_id self(w);
      std::size_t pushed = 0;
      for (std::size_t pop_number = 0; left != 0; ++pop_number) {
        if (pop_number % 512 == 0)
          order->set_pressure(self, pop_number % 1024 == 0 ? pressure::backlog : pressure::none);
        for (int made_now = 0; made_now < 2 && pushed < count; ++made_now) {
          order->push_made(self, items[w * count + pushed++]);
        }
        if (work* const next = order->pop(self)) {
          ++static_cast<counted_item*>(next)->taken;
          --left;
        }
      }
    });
  }
  for (std::size_t n = 0; n < count; ++n) order->push(worker_id(workers), items[workers * count + n]);
  for (std::thread& each : threads) each.join();
  EXPECT_TRUE(std::all_of(items.begin(), items.end(), [](const counted_item& each) { return each.taken == 1; }));
  EXPECT_EQ(order->pop(worker_id(0)), nullptr);
}

TEST_P(every_scheduler, comes_to_everything_though_one_item_renews_itself) {
  for (const pressure now : {pressure::none, pressure::backlog}) {
    const std::unique_ptr<scheduler> order = made_by_name(GetParam(), 1);
    counted_item endless, old, sent, arrived;
    order->push(worker_id(0), old);
    order->push(worker_id(1), sent);
    order->push(worker_id(2), arrived);
    order->set_pressure(worker_id(0), now);
    order->push_made(worker_id(0), endless);
    std::set<work*> others;
    for (int pop_number = 0; pop_number < 200; ++pop_number) {
      work* const next = order->pop(worker_id(0));
      if (next == &endless) {
        order->push_made(worker_id(0), endless);
      } else {
        others.insert(next);
      }
    }
    EXPECT_EQ(others, (std::set<work*>{&old, &sent, &arrived}));
  }
}

/// Counts the items that it is shown, and calls some of them stale.
struct curious final : work_visitor {
  explicit curious(std::set<const work*> dead) : stale(std::move(dead)) {}
  [[nodiscard]] verdict look(work& item) override {
    ++looks;
    seen.insert(&item);
    return stale.contains(&item) ? verdict::stale : verdict::go_on;
  }
  void taken_out(work& item) override { EXPECT_EQ(++static_cast<counted_item&>(item).taken, 1); }
  std::set<const work*> stale;
  std::set<const work*> seen;
  std::size_t looks = 0;
};

TEST_P(every_scheduler, shows_a_few_of_what_waits_in_as_many_steps_and_takes_out_only_what_is_stale) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    rng random(seed);
    const auto workers = static_cast<std::uint32_t>(1 + random.below(4));
    const std::unique_ptr<scheduler> order = made_by_name(GetParam(), workers, seed);
    std::deque<counted_item> items(random.below(2000));
    std::set<const work*> stale;
    for (counted_item& each : items) {
      if (random.below(4) == 0) stale.insert(&each);
      order->push(worker_id(static_cast<std::uint32_t>(random.below(workers + threads_beside_workers))), each);
    }
    for (int look = 0; look < 20; ++look) {
      curious visitor(stale);
      const std::size_t most = random.below(100);
      ASSERT_TRUE(order->visit_waiting(visitor, most));
      EXPECT_LE(visitor.looks, most) << "seed " << seed;
      EXPECT_TRUE(!visitor.seen.empty() || items.size() < 400 || most == 0) << "seed " << seed;
      work* const next = order->pop(worker_id(0));
      if (next != nullptr) static_cast<counted_item*>(next)->taken += 1;
    }
    for (std::uint32_t worker = 0; worker < workers; ++worker) {
      while (work* const next = order->pop(worker_id(worker))) EXPECT_EQ(++static_cast<counted_item*>(next)->taken, 1);
    }
    for (const counted_item& each : items) EXPECT_EQ(each.taken, 1) << "seed " << seed;
  }
}

TEST_P(every_scheduler, shows_every_object_that_waits_when_asked_often_enough) {
  const std::unique_ptr<scheduler> order = made_by_name(GetParam(), 3);
  std::deque<counted_item> items(40);
  for (std::size_t each = 0; each < items.size(); ++each) {
    order->push(worker_id(static_cast<std::uint32_t>(each % 5)), items[each]);
  }
  std::set<const work*> seen;
  for (int look = 0; look < 100; ++look) {
    curious visitor({});
    static_cast<void>(order->visit_waiting(visitor, 8));
    seen.insert(visitor.seen.begin(), visitor.seen.end());
  }
  // A heap shows the items that would run last; other schedulers show the oldest items of each thread.
  EXPECT_GE(seen.size(), std::string(GetParam()) == "priority" || std::string(GetParam()) == "shared" ? 8u : 40u);
}

INSTANTIATE_TEST_SUITE_P(built_in, every_scheduler, testing::Values("steal", "fifo", "lifo", "shared", "priority"),
                         [](const auto& each) { return std::string(each.param); });

constexpr worker_id self(0), other(1), application(2);

std::vector<work*> addresses(std::initializer_list<counted_item*> items) { return {items.begin(), items.end()}; }

std::vector<work*> all_of(scheduler& order, worker_id worker) {
  std::vector<work*> got;
  while (work* const next = order.pop(worker)) got.push_back(next);
  return got;
}

TEST(fifo_scheduler, takes_the_own_oldest_first_and_then_the_oldest_of_others_even_under_pressure) {
  const std::unique_ptr<scheduler> order = made_by_name("fifo", 2);
  counted_item a, b, c, d;
  order->set_pressure(self, pressure::backlog);
  order->push(other, a);
  order->push(other, b);
  order->push(self, c);
  order->push_made(self, d);
  EXPECT_EQ(all_of(*order, self), addresses({&c, &d, &a, &b}));
  EXPECT_EQ(order->steals(self), 2u);
}

TEST(lifo_scheduler, takes_the_own_newest_first_and_then_the_oldest_of_others) {
  const std::unique_ptr<scheduler> order = made_by_name("lifo", 2);
  counted_item a, b, c, d;
  order->push(other, a);
  order->push(other, b);
  order->push(self, c);
  order->push_made(self, d);
  EXPECT_EQ(all_of(*order, self), addresses({&d, &c, &a, &b}));
  EXPECT_EQ(order->waiting(self), 0u);
}

TEST(shared_scheduler, takes_the_oldest_of_the_whole_rank) {
  const std::unique_ptr<scheduler> order = made_by_name("shared", 2);
  counted_item a, b, c, d;
  order->push(other, a);
  order->push(self, b);
  order->push(application, c);
  order->push_made(other, d);
  EXPECT_EQ(order->waiting(self), 4u);
  EXPECT_EQ(all_of(*order, self), addresses({&a, &b, &c, &d}));
}

TEST(shared_scheduler, under_a_backlog_what_was_made_last_comes_first) {
  const std::unique_ptr<scheduler> order = made_by_name("shared", 1);
  counted_item old, first, second;
  order->push(self, old);
  order->set_pressure(self, pressure::backlog);
  order->push_made(self, first);
  order->push_made(self, second);
  EXPECT_EQ(all_of(*order, self), addresses({&second, &first, &old}));
}

TEST(shared_scheduler, a_rank_that_cannot_send_leaves_what_it_has_made) {
  const std::unique_ptr<scheduler> order = made_by_name("shared", 2);
  counted_item arrived, first;
  order->set_pressure(self, pressure::unsent);
  order->push_made(self, first);
  order->push(self, arrived);
  EXPECT_EQ(all_of(*order, self), addresses({&arrived}));
  order->set_pressure(self, pressure::none);
  EXPECT_EQ(all_of(*order, self), addresses({&first}));
}

}  // namespace
}  // namespace nacre
