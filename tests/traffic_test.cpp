// SPDX-License-Identifier: Apache-2.0
// Messages between objects are counted where a balancer asks for it, and one that goes by them keeps together what
// talks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <nacre/nacre.hpp>

#include "base/sanitized.hpp"

namespace {

using settings = std::map<std::string, std::string>;

void run(const settings& options, const std::function<void(nacre::runtime&)>& main) {
  nacre::config configuration;
  for (const auto& [name, value] : options) configuration.set(name, value);
  EXPECT_EQ(nacre::run(configuration, main), 0);
}

/// Remembers what it is told of each object at the last tick that showed it.
struct listener final : nacre::balancer {
  using table = std::map<std::uint64_t, std::vector<nacre::object_traffic>>;  // by index of the object
  listener(table& targets, bool counts) : heard(targets), wants(counts) {}
  void on_tick(nacre::balancer_host& host) override {
    if (host.rank().value() != 0) return;
    for (const nacre::object_load& each : host.local_loads()) {
      const auto object_traffics = host.traffic(each.object);
      heard[each.object.index()].assign(object_traffics.begin(), object_traffics.end());
    }
  }
  [[nodiscard]] bool observes_loads() const override { return false; }
  [[nodiscard]] bool observes_communication() const override { return wants; }
  table& heard;
  const bool wants;
};

/// Talks when it is told to.
struct speaker {
  std::uint64_t heard = 0;
  std::vector<nacre::mobile_ptr<speaker>> others{};

  void meet(const std::vector<nacre::mobile_ptr<speaker>>& all) { others = all; }
  void hear(std::uint64_t) { ++heard; }
  std::uint64_t count() const { return heard; }
  void send_each(nacre::context& ctx, std::uint64_t times) {
    for (std::uint64_t n = 0; n < times; ++n) {
      for (std::size_t index = 0; index < others.size(); ++index) {
        for (std::size_t more = 0; more <= index; ++more) ctx.send<&speaker::hear>(others[index], n);
      }
      ctx.send<&speaker::hear>(ctx.self<speaker>(), n);
    }
  }
  nacre::task<void> call_each(nacre::context& ctx) {
    for (const auto each : others) co_await ctx.call<&speaker::hear>(each, std::uint64_t{1});
    for (const auto each : others) co_await ctx.call<&speaker::hear>(each, std::uint64_t{1});
  }
  void read(nacre::context& ctx, std::uint32_t index) const {
    ctx.send<&speaker::hear>(others[index], std::uint64_t{1});
  }
  double load() const { return 1; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(heard, others);
  }
};

listener::table heard_in(const settings& options, bool counts, const std::function<void(nacre::runtime&)>& main) {
  listener::table heard;
  nacre::register_balancer("listener_of_the_test", [&heard, counts](const nacre::config&) {
    return std::make_unique<listener>(heard, counts);
  });
  settings all{{"transport", "sim"}, {"balancer", "listener_of_the_test"}, {"balance.traffic_half_life", "1000s"}};
  for (const auto& [name, value] : options) all[name] = value;
  run(all, main);
  return heard;
}

void talk(nacre::runtime& rt) {
  if (rt.rank().value() != 0) return;
  std::vector<nacre::mobile_ptr<speaker>> all;
  for (int n = 0; n < 3; ++n) all.push_back(rt.create<speaker>());
  rt.send<&speaker::meet>(all[0], std::vector(all.begin() + 1, all.end()));
  rt.send<&speaker::send_each>(all[0], std::uint64_t{10});
  rt.call<&speaker::call_each>(all[0]).get();
  rt.call<&speaker::read>(all[0], 1u).get();
  for (int n = 0; n < 5; ++n) static_cast<void>(rt.call<&speaker::count>(all[n % 3]).get());  // main counts for nobody
  if (rt.size() > 1) {
    rt.migrate(all[2], nacre::rank_id{1}).get();
    rt.migrate(all[0], nacre::rank_id{1}).get();
    rt.migrate(all[0], nacre::rank_id{0}).get();
  }
  const double until = rt.now() + 1e-3;
  while (rt.now() < until) static_cast<void>(rt.call<&speaker::count>(all[0]).get());
}

TEST(traffic, of_an_object_is_what_its_handlers_send_and_call_and_moves_with_it) {
  for (const char* const ranks : {"1", "2"}) {
    for (const char* const packed : {"false", "true"}) {
      const auto heard = heard_in({{"ranks", ranks}, {"check_serialization", packed}}, true, talk);
      ASSERT_TRUE(heard.contains(1)) << ranks;
      const auto& value = heard.at(1);
      ASSERT_EQ(value.size(), 2u) << ranks << " ranks: the others, not itself";
      EXPECT_EQ(value[0].partner.index(), 2u);
      EXPECT_EQ(value[0].messages, 10 + 2);
      EXPECT_EQ(value[0].bytes, 12 * (40 + 8));
      EXPECT_EQ(value[1].partner.index(), 3u);
      EXPECT_EQ(value[1].messages, 20 + 2 + 1);
      EXPECT_EQ(value[0].where.value(), 0u);
      EXPECT_EQ(value[1].where.value(), *ranks == '1' ? 0u : 1u);
      EXPECT_TRUE(heard.at(2).empty()) << "it has sent nothing";
    }
  }
}

TEST(traffic, to_names_that_have_no_home_in_the_job_is_told_to_no_balancer) {
  const auto heard = heard_in({{"ranks", "1"}}, true, [](nacre::runtime& rt) {
    rt.on_delivery_error([](const nacre::delivery_error&) {});
    const auto one = rt.create<speaker>(), other = rt.create<speaker>();
    const nacre::mobile_ptr<speaker> of_rank_99(nacre::object_id(nacre::rank_id(99), 1));
    rt.send<&speaker::meet>(one, std::vector{other, of_rank_99});
    rt.send<&speaker::send_each>(one, std::uint64_t{10});
    const double until = rt.now() + 1e-3;
    while (rt.now() < until) static_cast<void>(rt.call<&speaker::count>(one).get());
  });
  ASSERT_TRUE(heard.contains(1));
  ASSERT_EQ(heard.at(1).size(), 1U);
  EXPECT_EQ(heard.at(1)[0].partner.index(), 2U);
}

TEST(traffic, is_not_counted_unless_a_balancer_asks) {
  const auto heard = heard_in({{"ranks", "2"}}, false, talk);
  ASSERT_TRUE(heard.contains(1));
  for (const auto& [object, traffic] : heard) EXPECT_TRUE(traffic.empty());
}

TEST(traffic, is_halved_as_time_goes_by) {
  const auto heard = heard_in({{"balance.traffic_half_life", "400us"}}, true, talk);
  ASSERT_TRUE(heard.contains(1));
  ASSERT_FALSE(heard.at(1).empty());
  EXPECT_GT(heard.at(1)[0].messages, 12 / 16.1);
  EXPECT_LT(heard.at(1)[0].messages, 12 / 1.9);
}

/// Moves everything around all the time, and looks at all traffic.
struct restless final : nacre::balancer {
  void on_tick(nacre::balancer_host& host) override {
    for (const nacre::object_load& each : host.local_loads()) {
      double sum = 0;
      for (const nacre::object_traffic& object_traffic : host.traffic(each.object)) sum += object_traffic.messages;
      EXPECT_GE(sum, 0);
      if (host.size() > 1 && ++ticks_ % 7 == 0) {
        host.migrate(each.object, nacre::rank_id{(host.rank().value() + 1) % host.size()});
      }
    }
  }
  [[nodiscard]] bool observes_communication() const override { return true; }
  std::uint64_t ticks_ = 0;
};

TEST(traffic, of_handlers_that_run_beside_each_other_is_counted_while_balancers_look_and_move) {
  nacre::register_balancer("restless_of_the_test", [](const nacre::config&) { return std::make_unique<restless>(); });
  constexpr std::uint32_t others = 12;  // more than are remembered
  constexpr std::uint32_t rounds = nacre::tests::sanitized ? 100 : 500;
  for (const char* const ranks : {"1", "2"}) {
    std::uint64_t heard = 0;
    run({{"ranks", ranks},
         {"workers", "3"},
         {"balancer", "restless_of_the_test"},
         {"balance.traffic_half_life", "1ms"}},
        [&](nacre::runtime& rt) {
          if (rt.rank().value() != 0) return;
          std::vector<nacre::mobile_ptr<speaker>> all;
          for (std::uint32_t n = 0; n < others; ++n) all.push_back(rt.create<speaker>());
          const auto one = rt.create<speaker>();
          rt.send<&speaker::meet>(one, all);
          for (std::uint32_t n = 0; n < rounds; ++n) {
            for (std::uint32_t index = 0; index < others; ++index) rt.send<&speaker::read>(one, index);
            if (n % 50 == 0) static_cast<void>(rt.call<&speaker::count>(one).get());
          }
          rt.wait_quiescence();  // what they have said has arrived, from whatever rank
          for (const auto each : all) heard += rt.call<&speaker::count>(each).get();
        });
    EXPECT_EQ(heard, std::uint64_t{others} * rounds) << ranks;
  }
}

/// A cell of a ring, which talks to the two beside it.
struct cell {
  nacre::mobile_ptr<cell> left{}, right{};
  std::uint64_t heard = 0;

  void meet(nacre::mobile_ptr<cell> previous, nacre::mobile_ptr<cell> rest) {
    left = previous;
    right = rest;
  }
  void hear() { ++heard; }
  void step(nacre::context& ctx) {
    ctx.charge(50e-6);
    for (int n = 0; n < 4; ++n) {
      ctx.send<&cell::hear>(left);
      ctx.send<&cell::hear>(right);
    }
  }
  std::uint32_t where(nacre::context& ctx) const { return ctx.rank().value(); }
  std::uint64_t count() const { return heard; }
  double load() const { return 1; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(left, right, heard);
  }
};

struct outcome {
  std::uint64_t between_ranks = 0;  ///< messages to objects in the last rounds
  std::uint64_t moved = 0;
  std::uint64_t moved_at_last = 0;  ///< in the last rounds
  double seconds = 0;               ///< virtual ones that the last rounds took
  double imbalance = 0;             ///< the most objects of a rank, in parts of the average
  bool operator==(const outcome&) const = default;
};

constexpr std::uint32_t ranks = 8, groups = 8, members = 8;

settings simulated(const std::string& balancer, const settings& options, std::uint64_t seed) {
  settings all{{"transport", "sim"},
               {"ranks", std::to_string(ranks)},
               {"workers", "1"},
               {"balancer", balancer},
               {"seed", std::to_string(seed)}};
  for (const auto& [name, value] : options) all[name] = value;
  return all;
}

/// Groups of cells lie scattered over two ranks of eight, while balancing is disabled, and go on when it is enabled.
outcome run_groups(const std::string& balancer, const settings& options, std::uint64_t seed) {
  outcome result;
  run(simulated(balancer, options, seed), [&](nacre::runtime& rt) {
    std::vector<nacre::mobile_ptr<cell>> cells;
    const auto rounds = [&](int count) {
      for (int n = 0; n < count; ++n) {
        for (const auto each : cells) rt.send<&cell::step>(each);
        rt.wait_quiescence();
      }
    };
    const auto total = [&](std::uint64_t part) { return rt.all_reduce(part, std::plus<>{}); };
    rt.enable_balancing(false);
    rt.barrier();
    if (rt.rank().value() == 0) {
      nacre::rng random(seed);
      for (std::uint32_t n = 0; n < groups * members; ++n) cells.push_back(rt.create<cell>());
      const auto of_group = [&](std::uint32_t n, std::uint32_t step) {
        return cells[(n / groups + step) % members * groups + n % groups];
      };
      for (std::uint32_t n = 0; n < cells.size(); ++n) {
        rt.send<&cell::meet>(cells[n], of_group(n, members - 1), of_group(n, 1));
        rt.migrate(cells[n], nacre::rank_id{static_cast<std::uint32_t>(random.below(2))}).get();
      }
    }
    rt.wait_quiescence();
    rounds(5);
    const std::uint64_t moved_before = total(rt.counters().migrations_out);
    rt.enable_balancing(true);
    rt.barrier();
    rounds(200);
    const std::uint64_t hops = total(rt.counters().hops), moved = total(rt.counters().migrations_out);
    const double begin = rt.now();
    rounds(10);
    const double seconds = rt.now() - begin;
    const std::uint64_t hops_now = total(rt.counters().hops), moved_now = total(rt.counters().migrations_out);
    if (rt.rank().value() != 0) return;
    rt.enable_balancing(false);
    std::map<std::uint32_t, int> placed;
    for (const auto each : cells) ++placed[rt.call<&cell::where>(each).get()];
    int most = 0;
    for (const auto& [rank, count] : placed) most = std::max(most, count);
    for (const auto each : cells) EXPECT_EQ(rt.call<&cell::count>(each).get(), 215u * 8);
    result = {hops_now - hops, moved - moved_before, moved_now - moved, seconds,
              most / double{members * groups / ranks}};
  });
  return result;
}

TEST(greedy_refine_by_communication, halves_what_ranks_send_each_other_at_no_more_imbalance_and_then_rests) {
  std::uint64_t partner = 0, without = 0;
  for (std::uint64_t seed = 1; seed <= (nacre::tests::sanitized ? 1 : 3); ++seed) {
    const outcome blind = run_groups("greedy_refine", {}, seed);
    const settings asks{{"balance.greedy_refine.communication", "true"}};
    const outcome seeing = run_groups("greedy_refine", asks, seed);
    EXPECT_LE(seeing.imbalance, blind.imbalance);
    EXPECT_LE(seeing.seconds, 1.01 * blind.seconds);
    EXPECT_LE(seeing.moved, blind.moved + blind.moved / 4);
    EXPECT_GT(seeing.moved, 30u);
    EXPECT_EQ(seeing.moved_at_last, 0u);
    EXPECT_EQ(seeing, run_groups("greedy_refine", asks, seed)) << "the same seed, the same run";
    partner += seeing.between_ranks;
    without += blind.between_ranks;
  }
  EXPECT_LT((nacre::tests::sanitized ? 3 : 4) * partner, 2 * without) << "one seed alone may be unlucky";
}

TEST(gossip_by_communication, ranks_send_each_other_a_fifth_less_at_no_more_imbalance) {
  std::uint64_t partner = 0, without = 0;
  double seeing_seconds = 0, blind_seconds = 0;  // of all seeds: one may be lucky
  for (std::uint64_t seed = 1; seed <= (nacre::tests::sanitized ? 1 : 4); ++seed) {
    const outcome blind = run_groups("gossip", {}, seed);
    const outcome seeing = run_groups("gossip", {{"balance.gossip.communication", "true"}}, seed);
    EXPECT_LE(seeing.imbalance, blind.imbalance);
    seeing_seconds += seeing.seconds;
    blind_seconds += blind.seconds;
    EXPECT_EQ(seeing.moved_at_last, 0u);
    partner += seeing.between_ranks;
    without += blind.between_ranks;
  }
  EXPECT_LE(seeing_seconds, 1.01 * blind_seconds);
  if (nacre::tests::sanitized) {
    EXPECT_LT(partner, without);
  } else {
    EXPECT_LT(5 * partner, 4 * without);
  }
}

}  // namespace
