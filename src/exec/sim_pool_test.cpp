// SPDX-License-Identifier: Apache-2.0
// When simulated workers poll timers, and how their steps follow each other.
#include "exec/sim_pool.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/clock.hpp"

namespace nacre {
namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;

/// An end of a network on which nothing ever moves.
class silent_end final : public transport::endpoint {
 public:
  silent_end() { declared_.virtual_time = true; }
  rank_id rank() const noexcept override { return rank_id(0); }
  std::uint32_t size() const noexcept override { return 1; }
  const transport::capabilities& declared() const noexcept override { return declared_; }
  void submit(rank_id, message_list& batch) override { batch.clear(); }
  bool poll(message_list&, std::size_t) override { return false; }
  void wait(nanoseconds) override {}
  void wake() noexcept override {}
  std::optional<transport::failure> failed() override { return std::nullopt; }
  bool unsent() const noexcept override { return false; }
  void close(nanoseconds) override {}

 private:
  transport::capabilities declared_;
};

struct silent_sink final : message_sink {
  void deliver(thread_context&, message_list& arrived) override { arrived.clear(); }
  void flush(thread_context&) override {}
  void peer_failed(const transport::failure&) override {}
  [[nodiscard]] bool idle() const override { return true; }
};

class machine_clock final : public clock {
 public:
  explicit machine_clock(const machine::simulation& simulation) : simulation_(simulation) {}
  nanoseconds now() override { return simulation_.now(); }

 private:
  const machine::simulation& simulation_;
};

class first_come final : public scheduler {
 public:
  void push(worker_id, work& item) override { items_.push_back(&item); }
  work* pop(worker_id) override {
    if (items_.empty()) return nullptr;
    work* const next = items_.front();
    items_.pop_front();
    return next;
  }
  [[nodiscard]] std::size_t waiting(worker_id) const override { return items_.size(); }

 private:
  std::deque<work*> items_;
};

struct simulated_rank {
  explicit simulated_rank(std::uint32_t workers, const machine::runtime_costs& costs = {})
      : pool({.workers = workers}, costs, plane, order, simulation) {
    plane.attach(sink);
  }
  void run() {
    for (int events = 0; events < 1000 && simulation.step(); ++events) continue;
  }

  machine::simulation simulation{{.seed = 3}};
  machine_clock time{simulation};
  backplane plane{std::make_unique<silent_end>(), time};
  silent_sink sink;
  first_come order;
  sim_pool pool;
};

/// Works for 10 us, and notes when it began.
struct spending_item final : work {
  spending_item() : work(&run_it) {}
  static void run_it(work& self, thread_context& thread) {
    auto& item = static_cast<spending_item&>(self);
    item.began = nanoseconds(static_cast<std::int64_t>(thread.pool().instant()));
    thread.pool().charge(thread, 10e-6);
  }
  nanoseconds began{-1};
};

TEST(sim_pool, a_worker_begins_nothing_before_what_it_runs_has_ended) {
  simulated_rank one(1);
  std::vector<spending_item> items(5);
  one.pool.start([&] {
    for (spending_item& each : items) one.pool.make_ready(one.pool.application(), each);
  });
  one.run();
  for (std::size_t index = 1; index < items.size(); ++index) {
    EXPECT_GE(items[index].began, items[index - 1].began + microseconds(10)) << index;
  }
}

TEST(sim_pool, a_busy_worker_polls_when_its_item_is_over_and_not_in_others_future) {
  simulated_rank one(2);
  std::vector<nanoseconds> looks;
  bool ahead = false;
  one.plane.duties().add_hook([&](thread_context&) -> nanoseconds {
    looks.push_back(one.time.now());
    ahead = ahead || one.simulation.now() != one.simulation.event_time();
    return nanoseconds::max();
  });
  std::vector<spending_item> items(12);
  one.pool.start([&] {
    for (spending_item& each : items) one.pool.make_ready(one.pool.application(), each);
  });
  one.run();
  EXPECT_FALSE(ahead);
  EXPECT_TRUE(std::is_sorted(looks.begin(), looks.end()));
  EXPECT_GE(looks.size(), 4u) << "both are busy for 60 us, and look every 10 us or a little later";
}

/// Works for 10 us, and runs its `end` when that time is over.
struct holding_item final : work {
  struct release final : work {
    release() : work(&run_it) {}
    static void run_it(work& self, thread_context& thread) {
      static_cast<release&>(self).instant = nanoseconds(static_cast<std::int64_t>(thread.pool().instant()));
    }
    nanoseconds instant{-1};
  };
  holding_item() : work(&run_it) {}
  static void run_it(work& self, thread_context& thread) {
    thread.pool().charge(thread, 10e-6);
    thread.pool().when_spent(thread, static_cast<holding_item&>(self).end);
  }
  release end;
};

TEST(sim_pool, work_for_when_time_is_spent_runs_then_whatever_waits) {
  simulated_rank one(1);
  holding_item holds;
  std::vector<spending_item> items(5);
  one.pool.start([&] {
    one.pool.make_ready(one.pool.application(), holds);
    for (spending_item& each : items) one.pool.make_ready(one.pool.application(), each);
  });
  one.run();
  EXPECT_EQ(holds.end.instant, microseconds(10));
  EXPECT_GE(items[4].began, microseconds(50));
}

/// Does some of the runtime's own work, and notes when that is over.
struct own_item final : work {
  own_item() : work(&run_it) {}
  static void run_it(work& self, thread_context& thread) {
    auto& item = static_cast<own_item&>(self);
    thread.pool().charge_own(own_work::look_step, item.steps);
    item.done = nanoseconds(static_cast<std::int64_t>(thread.pool().instant()));
    item.held = thread.pool().spending();
  }
  std::uint64_t steps = 0;
  nanoseconds done{-1};
  bool held = false;
};

TEST(sim_pool, own_work_takes_virtual_time_at_once_and_fractions_of_a_nanosecond_add_up) {
  machine::runtime_costs costs;
  costs.set_picoseconds(own_work::look_step, 400);
  simulated_rank one(1, costs);
  std::vector<own_item> items(6);
  for (own_item& each : items) each.steps = 2;
  items[5].steps = 1'000'000'000'000;
  one.pool.start([&] {
    for (own_item& each : items) one.pool.make_ready(one.pool.application(), each);
  });
  one.run();
  for (std::size_t index = 0; index < 5; ++index) {
    EXPECT_EQ(items[index].done, nanoseconds((index + 1) * 800 / 1000)) << index;
  }
  EXPECT_EQ(items[5].done, nanoseconds(4 + 400'000'000'000)) << "what many take at once does not overflow";
  EXPECT_TRUE(items[5].held) << "its worker is busy until then";
}

TEST(sim_pool, an_item_costs_what_the_table_says_before_the_next_begins) {
  machine::runtime_costs costs;
  costs.set_picoseconds(own_work::item, 7000);
  simulated_rank one(1, costs);
  std::vector<own_item> items(3);
  one.pool.start([&] {
    for (own_item& each : items) one.pool.make_ready(one.pool.application(), each);
  });
  one.run();
  for (std::size_t index = 0; index < items.size(); ++index) EXPECT_EQ(items[index].done, nanoseconds(7 * index));
}

/// Works for 10 us, and then makes another ready.
struct making_item final : work {
  making_item() : work(&run_it) {}
  static void run_it(work& self, thread_context& thread) {
    auto& item = static_cast<making_item&>(self);
    ++item.runs;
    thread.pool().charge(thread, 10e-6);
    if (item.next == nullptr) return;
    const std::size_t previous = thread.pool().ready_items();
    thread.pool().make_ready(thread, *item.next);
    item.counted_once = thread.pool().ready_items() == previous + 1;
  }
  making_item* next = nullptr;
  int runs = 0;
  bool counted_once = false;
};

TEST(sim_pool, nothing_is_ready_once_all_has_run_that_was_made_ready_by_code_that_had_spent_time) {
  for (const std::uint32_t workers : {1U, 2U, 3U}) {
    simulated_rank one(workers);
    std::vector<making_item> items(8);
    for (std::size_t index = 2; index < items.size(); ++index) items[index - 2].next = &items[index];
    std::size_t from_main = 0;
    one.pool.start([&] {
      one.pool.charge(one.pool.application(), 1e-6);
      one.pool.make_ready(one.pool.application(), items[0]);
      one.pool.make_ready(one.pool.application(), items[1]);
      from_main = one.pool.ready_items();
    });
    one.run();
    EXPECT_EQ(from_main, 2U) << workers;
    for (const making_item& each : items) {
      EXPECT_EQ(each.runs, 1) << workers;
      EXPECT_TRUE(each.next == nullptr || each.counted_once) << workers;
    }
    EXPECT_EQ(one.pool.ready_items(), 0U) << workers;
  }
}

TEST(sim_pool, a_look_that_is_due_earlier_than_the_one_waited_for_is_taken_in_time) {
  simulated_rank one(1);
  bool sooner = false;
  int looks = 0;
  nanoseconds looked_at{-1};
  one.plane.duties().add_hook([&](thread_context&) -> nanoseconds {
    ++looks;
    if (sooner && looked_at < nanoseconds::zero() && one.time.now() >= microseconds(20)) looked_at = one.time.now();
    if (looked_at >= nanoseconds::zero()) return nanoseconds::max();
    return sooner ? microseconds(20) : microseconds(5000);
  });
  one.pool.start([&] {
    bool ready = false;
    one.pool.wait_until([&] { return std::exchange(ready, true); });  // a first look, which sets the wakeup far away
  });
  while (looks == 0 && one.simulation.step()) continue;
  sooner = true;
  one.pool.on_arrival();  // another poll finds that it is due sooner
  one.run();
  EXPECT_EQ(looked_at, microseconds(20));
}

}  // namespace
}  // namespace nacre
