// SPDX-License-Identifier: Apache-2.0
// Objects that move on while many messages wait for them: what that costs, that nothing is lost, and who hears of an
// end.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <nacre/nacre.hpp>

namespace nacre {
namespace {

/// Moves to the next rank whenever it has run so many messages; among the upper half of the ranks, once it is there.
struct wanderer {
  std::vector<std::uint64_t> next;
  std::uint64_t ran = 0, wrong = 0;
  std::uint32_t every = 1;

  void begin(std::uint32_t ranks, std::uint32_t moves_every) {
    next.assign(ranks, 0);
    every = moves_every;
  }
  void take(context& ctx, std::uint32_t source, std::uint64_t number) {
    if (next.at(source)++ != number) ++wrong;
    if (++ran % every != 0) return;
    const std::uint32_t new_value = ctx.rank().value() + 1, first = ctx.size() / 2;
    static_cast<void>(
        ctx.migrate(ctx.self<wanderer>(), rank_id(new_value < ctx.size() ? std::max(new_value, first) : first)));
  }
  std::uint64_t in_order() const { return wrong == 0 ? ran : 0; }

  template <class Archive>
  void serialize(Archive& ar) {
    ar(next, ran, wrong, every);
  }
};

struct cost {
  std::uint64_t ran = 0, forwards = 0, carried = 0, moves = 0;
};

cost spent(runtime& rt) {
  const rank_counters rank_counters = rt.counters();
  return {0, rt.all_reduce(rank_counters.forwards, std::plus<>{}), rt.all_reduce(rank_counters.carried, std::plus<>{}),
          rt.all_reduce(rank_counters.migrations_out, std::plus<>{})};
}

config simulated(std::uint32_t ranks) {
  config configuration;
  configuration.set("transport", "sim");
  configuration.set("ranks", std::to_string(ranks));
  configuration.set("balancer", "none");
  configuration.set("sim.cost.factor", "0");  // the whole backlog is there before the first move
  return configuration;
}

/// Each main of the lower half sends so many messages to one object that moves, so that what it asks of itself stands
/// behind no message.
cost chase(const config& configuration, std::uint64_t each, std::uint32_t every) {
  cost match;
  EXPECT_EQ(run(configuration,
                [&](runtime& rt) {
                  const bool first = rt.rank() == rank_id(0);
                  const auto object = rt.broadcast(first ? rt.create<wanderer>() : mobile_ptr<wanderer>(), rank_id(0));
                  if (first) rt.call<&wanderer::begin>(object, rt.size(), every).get();
                  rt.barrier();
                  for (std::uint64_t number = 0; number < each && rt.rank().value() < rt.size() / 2; ++number) {
                    rt.send<&wanderer::take>(object, rt.rank().value(), number);
                  }
                  rt.wait_quiescence();
                  const cost all = spent(rt);
                  if (first) {
                    match = all;
                    match.ran = rt.call<&wanderer::in_order>(object).get();
                  }
                }),
            0);
  return match;
}

constexpr const char* policies[] = {"lazy_forwarding",  "jump_update",      "path_update", "home",
                                    "broadcast_update", "subscriber_update"};

TEST(backlog, messages_to_an_object_that_moves_are_forwarded_a_few_times_each_under_every_policy) {
  for (const char* const policy : policies) {
    config configuration = simulated(6);
    configuration.set("location", policy);
    const cost small = chase(configuration, 500, 97), large = chase(configuration, 2000, 97);
    EXPECT_EQ(small.ran, 3U * 500) << policy;
    EXPECT_EQ(large.ran, 3U * 2000) << policy;
    EXPECT_GT(large.moves, 10U) << policy;
    EXPECT_LT(large.forwards, 4 * large.ran) << policy;
    EXPECT_LT(large.forwards + large.carried, 5 * (small.forwards + small.carried)) << policy << ": in proportion";
  }
}

TEST(backlog, a_crowd_that_was_sent_before_the_first_move_does_not_follow_the_object_for_long) {
  const cost all = chase(simulated(16), 2500, 97);
  EXPECT_EQ(all.ran, 8U * 2500);
  EXPECT_LT(all.forwards, 4 * all.ran);
}

TEST(backlog, an_object_that_moves_with_every_message_costs_a_few_travels_for_each) {
  const cost small = chase(simulated(4), 250, 1), large = chase(simulated(4), 1000, 1);
  EXPECT_EQ(large.ran, 2000U);
  EXPECT_LT(large.forwards + large.carried, 5 * (small.forwards + small.carried));
}

struct box {
  std::uint64_t met = 0;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(met);
  }
};

void meet(box& a, box& b) {
  ++a.met;
  ++b.met;
}

/// Each main asks for so many colocations of two of six objects, and moves one of them after every second one, without
/// waiting for any. `ran`: those that each object has had.
cost crowd(const config& configuration, int each) {
  cost match;
  EXPECT_EQ(run(configuration,
                [&](runtime& rt) {
                  const bool first = rt.rank() == rank_id(0);
                  std::vector<mobile_ptr<box>> all;
                  for (int made_count = 0; first && made_count < 6; ++made_count) all.push_back(rt.create<box>());
                  all = rt.broadcast(all, rank_id(0));
                  rng random(7 + rt.rank().value());
                  for (int asked = 0; asked < each; ++asked) {
                    const std::uint64_t one = random.below(6), other = random.below(5);
                    rt.colocate<meet>(all[one], all[other + (other >= one ? 1 : 0)]);
                    if (asked % 2 != 0) continue;
                    const std::uint64_t moved = random.below(6);
                    const rank_id target(static_cast<std::uint32_t>(random.below(rt.size())));
                    static_cast<void>(rt.migrate(all[moved], target));
                  }
                  rt.wait_quiescence();
                  const cost spent_here = spent(rt);
                  if (!first) return;
                  match = spent_here;
                  for (const auto& object : all) {
                    match.ran += rt.call(object, [](const box& position) { return position.met; }).get();
                  }
                }),
            0);
  return match;
}

TEST(backlog, colocations_of_objects_that_move_cost_travels_in_proportion) {
  const cost small = crowd(simulated(5), 100), large = crowd(simulated(5), 400);
  EXPECT_EQ(small.ran, 2U * 5 * 100);
  EXPECT_EQ(large.ran, 2U * 5 * 400);
  EXPECT_LT(large.forwards + large.carried, 8 * (small.forwards + small.carried))
      << small.forwards << '+' << small.carried << ", " << large.forwards << '+' << large.carried;
}

TEST(backlog, small_memory_changes_nothing) {
  config configuration = simulated(6);
  configuration.set("send_memory", "64KiB");
  configuration.set("receive_memory", "64KiB");
  const cost all = chase(configuration, 2000, 97);
  EXPECT_EQ(all.ran, 3U * 2000);
  EXPECT_LT(all.forwards, 4 * all.ran);
}

TEST(backlog, the_same_for_real_between_threads) {
  config configuration;
  configuration.set("transport", "inproc");
  configuration.set("ranks", "4");
  configuration.set("workers", "1");
  EXPECT_EQ(chase(configuration, 5000, 97).ran, 10'000U);
}

/// One move of an object that nothing has happened to takes along whatever waits.
TEST(backlog, one_move_takes_all_along_that_waits_for_an_object) {
  std::uint64_t forwards = 0, carried = 0, ran = 0;
  EXPECT_EQ(run(simulated(2),
                [&](runtime& rt) {
                  if (rt.rank() == rank_id(0)) {
                    const auto object = rt.create<wanderer>();
                    rt.send<&wanderer::begin>(object, 1U, 1'000'000U);
                    static_cast<void>(rt.migrate(object, rank_id(1)));
                    for (std::uint64_t number = 0; number < 300; ++number) rt.send<&wanderer::take>(object, 0U, number);
                    ran = rt.call<&wanderer::in_order>(object).get();
                  }
                  rt.wait_quiescence();
                  const cost all = spent(rt);
                  forwards = all.forwards;
                  carried = all.carried;
                }),
            0);
  EXPECT_EQ(ran, 300U);
  EXPECT_LE(forwards + carried, 301U);
}

/// Takes its time, so that messages wait for it.
struct slow : wanderer {
  void take_slowly(context& ctx, std::uint32_t source, std::uint64_t number) {
    ctx.charge(1e-6);
    take(ctx, source, number);
  }
};

/// Moves an object for which many messages wait to the next rank, so many times in all.
struct restless final : balancer {
  void on_tick(balancer_host& host) override {
    for (const object_load& each : host.local_loads()) {
      if (each.messages < 50 || moves_left == 0) continue;
      --moves_left;
      host.migrate(each.object, rank_id((host.rank().value() + 1) % host.size()));
    }
  }
  static inline std::uint32_t moves_left = 0;  // all ranks share the process, and one thread runs them
};

/// How many messages each rank without the object sends for so many calls, one after the other, once the backlog has
/// run.
std::vector<std::uint64_t> cost_of_late_calls(config configuration, std::uint32_t moves, std::uint64_t calls) {
  constexpr std::uint64_t each = 400;
  std::vector<std::uint64_t> sent;
  restless::moves_left = moves;
  configuration.set("balancer", "restless");
  configuration.set("balance.tick", "10us");
  const int code = run(configuration, [&](runtime& rt) {
    const bool first = rt.rank() == rank_id(0);
    const auto object = rt.broadcast(first ? rt.create<slow>() : mobile_ptr<slow>(), rank_id(0));
    if (first) rt.call<&slow::begin>(object, rt.size(), 1'000'000U).get();
    rt.barrier();
    for (std::uint64_t number = 0; number < each; ++number) {
      rt.send<&slow::take_slowly>(object, rt.rank().value(), number);
    }
    rt.wait_quiescence();
    EXPECT_GT(rt.all_reduce(rt.counters().forwards, std::plus<>{}), 2 * each);
    for (std::uint32_t rank = 0; rank < rt.size(); ++rank) {
      rt.barrier();
      if (rt.rank() != rank_id(rank) || rt.is_local(object)) continue;
      const std::uint64_t previous = rt.counters().messages_sent;
      for (std::uint64_t one = 0; one < calls; ++one) {
        EXPECT_EQ(rt.call<&slow::in_order>(object).get(), each * rt.size());
      }
      sent.push_back(rt.counters().messages_sent - previous);
    }
    rt.barrier();
  });
  EXPECT_EQ(code, 0);
  EXPECT_EQ(restless::moves_left, 0U);
  return sent;
}

TEST(backlog, a_rank_that_the_object_left_with_a_backlog_sends_at_once_again_when_the_backlog_is_over) {
  constexpr std::uint64_t calls = 20;
  register_balancer("restless", [](const config&) { return std::make_unique<restless>(); });
  for (const char* const policy : policies) {
    for (const std::uint32_t moves : {2U, 3U, 4U, 5U}) {
      config configuration = simulated(4);
      configuration.set("location", policy);
      const std::vector<std::uint64_t> sent = cost_of_late_calls(configuration, moves, calls);
      ASSERT_EQ(sent.size(), 3U);
      EXPECT_LE(*std::max_element(sent.begin(), sent.end()), calls + 4) << policy << ", " << moves << " moves";
    }
  }
}

/// It ends in the middle of what waits for it.
struct mortal : wanderer {
  void take_or_end(context& ctx, std::uint64_t last) {
    if (++ran == last) ctx.destroy(ctx.self<mortal>());
    if (ran % 7 == 0) {
      static_cast<void>(ctx.migrate(ctx.self<mortal>(), rank_id((ctx.rank().value() + 1) % ctx.size())));
    }
    ++total;
  }
  static inline std::uint64_t total = 0;  // all ranks share the process, and one thread runs them
};

TEST(backlog, messages_that_wait_at_their_sources_are_reported_when_their_object_ends) {
  constexpr std::uint64_t each = 400;
  std::uint64_t reported = 0;
  mortal::total = 0;
  EXPECT_EQ(run(simulated(4),
                [&](runtime& rt) {
                  rt.on_delivery_error([&](const delivery_error&) { ++reported; });
                  const bool first = rt.rank() == rank_id(0);
                  const auto object = rt.broadcast(first ? rt.create<mortal>() : mobile_ptr<mortal>(), rank_id(0));
                  rt.barrier();
                  for (std::uint64_t number = 0; number < each; ++number) {
                    rt.send<&mortal::take_or_end>(object, std::uint64_t{200});
                  }
                  rt.wait_quiescence();
                }),
            0);
  EXPECT_GT(reported, each);
  EXPECT_GE(reported + mortal::total, 4 * each) << "beside these, requests to move may have had nobody to go to";
}

}  // namespace
}  // namespace nacre
