// SPDX-License-Identifier: Apache-2.0
// Blocks move when they have worked long enough to make up for it, not because a rank is idle at a window's end.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <nacre/balancer.hpp>
#include <nacre/emulator.hpp>
#include <nacre/nacre.hpp>
#include "emulator/move_credit.hpp"

namespace nacre {
namespace {

using namespace std::chrono_literals;

void pass_on(emulated_node& node, std::uint32_t rounds) {
  if (rounds == 0) return;
  node.send<pass_on>({(node.at().x + 1) % node.machine().grid.x, 0, 0}, rounds - 1);
}

/// The nodes that rank 0 has at the end of a run on two simulated ranks, between which everything moves that may.
std::set<std::int32_t> nodes_of_rank_0(emulated_moves moves, std::uint32_t rounds) {
  config configuration;
  configuration.set("transport", "sim");
  configuration.set("ranks", "2");
  configuration.set("workers", "1");
  configuration.set("balancer", "rotate");
  configuration.set("balance.rotate.interval", "50us");
  configuration.set("seed", "3");
  std::set<std::int32_t> values;
  const auto start = [rounds](emulated_node& node) { node.add_task<pass_on>(rounds); };
  EXPECT_EQ(run(configuration,
                [&](runtime& rt) {
                  const bool first = rt.rank().value() == 0;
                  const auto note = [&values, first](emulated_node& node) {
                    if (first) values.insert(node.at().x);
                  };
                  static_cast<void>(emulate(rt, {.grid = {64, 1, 1}, .threads = 1, .hop = 5ns, .handler = 1us}, start,
                                            {.blocks = 4, .finish = note, .moves = moves}));
                }),
            0);
  return values;
}

TEST(moves_of_blocks, are_made_when_a_block_has_worked_for_longer_than_they_take) {
  std::set<std::int32_t> first_half;
  for (std::int32_t x = 0; x < 32; ++x) first_half.insert(x);
  EXPECT_EQ(nodes_of_rank_0(emulated_moves::worthwhile, 200), first_half);
  EXPECT_NE(nodes_of_rank_0(emulated_moves::always, 200), first_half);
  EXPECT_NE(nodes_of_rank_0(emulated_moves::worthwhile, 10'000), first_half);
}

struct long_state {
  std::array<std::uint64_t, 512> seen{};
  template <class Archive>
  void serialize(Archive& ar) {
    for (std::uint64_t& each : seen) ar(each);
  }
};

void count_and_pass_on(emulated_node& node, std::uint32_t rounds) {
  node.state<long_state>().seen[rounds % 512] += rounds;
  if (rounds == 0) return;
  node.send<count_and_pass_on>({(node.at().x + 1) % node.machine().grid.x, 0, 0}, rounds - 1);
}

/// Asks large objects to move only if that is worth it, which it is not, and now and then moves them all the same.
struct wavering_balancer final : balancer {
  void on_tick(balancer_host& host) override {
    const auto seen = host.candidates(64, candidate_kind::any);
    const rank_id other((host.rank().value() + 1) % host.size());
    const bool moves = ++ticks < 8 || ticks % 5 == 0;
    for (const object_load& each : std::vector(seen.begin(), seen.end())) {
      if (moves) {
        host.migrate(each.object, other);
      } else if (!host.migrate_if_worth(each.object, other)) {
        ++declined;
      }
    }
  }
  void on_message(balancer_host&, rank_id, std::span<const std::byte>) override {}
  int ticks = 0;
  static inline int declined = 0;
};

/// The sum of the states of all nodes after a run on two simulated ranks.
std::uint64_t sum_after_a_run(const char* balancer) {
  config configuration;
  configuration.set("transport", "sim");
  configuration.set("ranks", "2");
  configuration.set("workers", "1");
  configuration.set("balancer", balancer);
  std::uint64_t sum = 0;
  const auto start = [](emulated_node& node) { node.add_task<count_and_pass_on>(600U); };
  EXPECT_EQ(run(configuration,
                [&](runtime& rt) {
                  const auto add = [&sum](emulated_node& node) {
                    for (const std::uint64_t each : node.state<long_state>().seen) sum += each;
                  };
                  static_cast<void>(emulate(rt, {.grid = {64, 1, 1}, .threads = 1, .hop = 5ns, .handler = 1us}, start,
                                            {.blocks = 4, .finish = add, .moves = emulated_moves::always}));
                }),
            0);
  return sum;
}

TEST(moves_of_blocks, carry_what_has_happened_since_a_move_that_was_declined) {
  register_balancer("wavering", [](const config&) { return std::make_unique<wavering_balancer>(); });
  const std::uint64_t sum = sum_after_a_run("none");
  EXPECT_EQ(sum, 64U * 600 * 601 / 2);
  EXPECT_EQ(sum_after_a_run("wavering"), sum);
  EXPECT_GT(wavering_balancer::declined, 0);
}

TEST(moves_of_blocks, take_less_than_a_sixteenth_of_the_time) {
  constexpr std::uint64_t bytes = 1'000'000;
  constexpr double move = emulator::move_credit::seconds_a_byte * bytes;
  emulator::move_credit credit;
  EXPECT_FALSE(credit.covers(bytes));
  EXPECT_TRUE(credit.covers(0));
  credit.add(15 * move, 0);
  EXPECT_FALSE(credit.covers(bytes));
  credit.add(1.01 * move, 0);
  EXPECT_TRUE(credit.covers(bytes));
  EXPECT_FALSE(credit.covers(2 * bytes));
}

TEST(moves_of_blocks, count_handlers_where_simulated_time_does_not_pass) {
  emulator::move_credit credit;
  credit.add(0, 1'000'000);  // fifty milliseconds
  EXPECT_TRUE(credit.covers(700'000));
  EXPECT_FALSE(credit.covers(900'000));
}

}  // namespace
}  // namespace nacre
