// SPDX-License-Identifier: Apache-2.0
// Messages of main to objects of its own rank, of which short ones share bundles: each runs once, in order, and gives
// the room that it takes in main's window back, whatever becomes of its object.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <nacre/nacre.hpp>

#include "base/sanitized.hpp"
#include "runtime/engine.hpp"
#include "small_jobs.hpp"

namespace nacre::tests {
namespace {

std::uint64_t room_taken(context& ctx) { return ctx.core().messages().window()->used(); }

/// Knows the number of the next message.
struct ledger {
  std::uint64_t next = 0, wrong = 0;

  void hear(std::uint64_t number) { wrong += number != next++; }
  void hear_text(std::uint64_t number, const std::string&) { hear(number); }
  void hear_slowly(std::uint64_t number) {
    hear(number);
    const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(3);
    while (std::chrono::steady_clock::now() < end) continue;
  }
  task<void> hear_and_ask(context& ctx, std::uint64_t number) {
    hear(number);
    static_cast<void>(co_await ctx.call<room_taken>(ctx.rank()));
  }
  void go(context& ctx, std::uint64_t number) {
    hear(number);
    ctx.migrate(ctx.self<ledger>(), rank_id((ctx.rank().value() + 1) % ctx.size()));
  }
  std::uint64_t heard() const { return next; }
  std::uint64_t mistakes() const { return wrong; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(next, wrong);
  }
};

struct way {
  std::string name;
  std::uint64_t ranks, workers;
  std::uint64_t others;  // one of so many messages is of another kind than short
};

class own_objects : public testing::TestWithParam<way> {};

TEST_P(own_objects, run_each_message_of_main_once_and_in_order_and_give_its_room_back) {
  const way& way = GetParam();
  constexpr std::uint64_t objects = 50, messages = sanitized ? 20'000 : 200'000;
  config configuration;
  for (const auto& [name, value] : settings{{"transport", "inproc"}, {"balancer", "none"}})
    configuration.set(name, value);
  configuration.set("ranks", std::to_string(way.ranks));
  configuration.set("workers", std::to_string(way.workers));
  std::atomic<std::uint64_t> heard{0}, wrong{0}, left{0};
  const auto main = [&](runtime& rt) {
    std::vector<mobile_ptr<ledger>> all;
    for (std::uint64_t n = 0; n < objects; ++n) all.push_back(rt.create<ledger>());
    std::vector<std::uint64_t> sent(objects);
    rng random(rt.rank().value() + 1);
    for (std::uint64_t n = 0; n < messages; ++n) {
      const std::uint64_t target = random.below(objects), number = sent[target]++;
      const std::uint64_t kind = random.below(way.others * 4);
      if (kind == 0) {
        rt.send<&ledger::hear_text>(all[target], number, std::string(40, 'x'));
      } else if (kind == 1) {
        rt.send<&ledger::hear_slowly>(all[target], number);
      } else if (kind == 2) {
        rt.send<&ledger::hear_and_ask>(all[target], number);
      } else if (kind == 3) {
        rt.send<&ledger::go>(all[target], number);
      } else {
        rt.send<&ledger::hear>(all[target], number);
      }
    }
    rt.wait_quiescence();
    for (const auto each : all) {
      heard += rt.call<&ledger::heard>(each).get();
      wrong += rt.call<&ledger::mistakes>(each).get();
    }
    rt.barrier();
    left += rt.call<room_taken>(rt.rank()).get();
  };
  ASSERT_EQ(run(configuration, main), 0);
  EXPECT_EQ(heard, messages * way.ranks);
  EXPECT_EQ(wrong, 0U);
  EXPECT_LT(left, 1000U * way.ranks) << "more than the call that asks";
}

INSTANTIATE_TEST_SUITE_P(with, own_objects,
                         testing::Values(way{"one_worker", 1, 1, 1U << 30}, way{"three_workers", 1, 3, 1U << 30},
                                         way{"few_other_messages", 1, 2, 400}, way{"many_other_messages", 1, 1, 3},
                                         way{"objects_that_move", 2, 1, 100}, way{"objects_that_move_much", 3, 2, 5}),
                         [](const auto& subject) { return subject.param.name; });

std::atomic<std::uint64_t> run_so_far{0};

struct counter {
  void note() { ++run_so_far; }
  template <class Archive>
  void serialize(Archive&) {}
};

/// A main that computes for long after it has sent something does not keep it.
TEST(objects_of_the_own_rank, hear_of_a_few_messages_though_main_does_not_wait) {
  config configuration;
  for (const auto& [name, value] : settings{{"transport", "inproc"}, {"ranks", "1"}, {"workers", "1"}}) {
    configuration.set(name, value);
  }
  run_so_far = 0;
  bool all_ran = false;
  EXPECT_EQ(run(configuration,
                [&](runtime& rt) {
                  const auto one = rt.create<counter>(), other = rt.create<counter>();
                  for (int n = 0; n < 1000; ++n) rt.send<&counter::note>(n % 2 == 0 ? one : other);
                  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
                  while (run_so_far < 1000 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
                  all_ran = run_so_far == 1000;
                }),
            0);
  EXPECT_TRUE(all_ran);
}

}  // namespace
}  // namespace nacre::tests
