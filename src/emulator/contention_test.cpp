// SPDX-License-Identifier: Apache-2.0
// Links that carry one packet at a time: answers that can be worked out by hand, and machines that cannot have them.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <nacre/emulator.hpp>
#include <nacre/nacre.hpp>

#include "emulator/random_programs.hpp"

namespace nacre::emulator {
namespace {

using namespace std::chrono_literals;

/// Packets of 100 ns on links, hops of 5 ns, a turn of 7 ns for each packet; handlers and threads delay nobody.
emulated_machine contended(const coordinates& grid) {
  emulated_machine m{.grid = grid, .threads = 256, .hop = 5ns, .turn = 7ns};
  m.bandwidth = 1e9;
  m.packet_bytes = 100;
  m.input_packets = 0;
  m.contention = true;
  return m;
}

constexpr int packets = 50;
std::atomic<std::int64_t> last_ns{0};

void note_arrival(emulated_node& node) {
  std::int64_t last = last_ns.load();
  while (last < node.now().count() && !last_ns.compare_exchange_weak(last, node.now().count())) continue;
}

struct stream {
  coordinates source, target;
};
/// Each stream sends its packets at time 0. Returns when the last one has come; blocks lie on two ranks.
std::int64_t last_of(const emulated_machine& machine, const std::vector<stream>& streams, emulation_counts* counts) {
  config configuration;
  configuration.set("ranks", "2");
  configuration.set("workers", "1");
  last_ns = 0;
  EXPECT_EQ(run(configuration,
                [&](runtime& rt) {
                  const auto start = [&](emulated_node& node) {
                    for (const stream& each : streams) {
                      for (int k = 0; k < packets && node.at() == each.source; ++k)
                        node.send<note_arrival>(each.target);
                    }
                  };
                  const auto done = emulate(rt, machine, start, {.blocks = 4});
                  if (counts != nullptr && rt.rank().value() == 0) *counts = done.counts();
                }),
            0);
  return last_ns;
}

TEST(link_contention, two_streams_that_share_a_link_take_twice_the_time) {
  const emulated_machine machine = contended({4, 1, 1});
  emulation_counts counts;
  // Alone: the turn, the packets one after the other over the first link, two more hops for the last one.
  EXPECT_EQ(last_of(machine, {{{0, 0, 0}, {3, 0, 0}}}, &counts), 7 + packets * 100 + 3 * 5);
  EXPECT_EQ(counts.link_waits, packets - 1U) << "behind the first link they come one by one";
  EXPECT_EQ(counts.link_wait.count(), 100 * packets * (packets - 1) / 2);
  EXPECT_EQ(last_of(machine, {{{1, 0, 0}, {3, 0, 0}}}, nullptr), 7 + packets * 100 + 2 * 5);
  // Both need the link from 1 to 2, which is busy from the turn's end on.
  EXPECT_EQ(last_of(machine, {{{0, 0, 0}, {3, 0, 0}}, {{1, 0, 0}, {3, 0, 0}}}, nullptr), 7 + 2 * packets * 100 + 2 * 5);
}

TEST(link_contention, streams_on_different_links_do_not_delay_each_other) {
  const emulated_machine machine = contended({3, 3, 1});
  constexpr std::int64_t alone = 7 + packets * 100 + 2 * 5;
  EXPECT_EQ(last_of(machine, {{{0, 0, 0}, {2, 0, 0}}, {{2, 0, 0}, {0, 0, 0}}}, nullptr), alone) << "back and forth";
  EXPECT_EQ(last_of(machine, {{{0, 1, 0}, {2, 1, 0}}, {{1, 0, 0}, {1, 2, 0}}}, nullptr), alone) << "they cross";
  EXPECT_EQ(last_of(machine, {{{0, 0, 0}, {2, 0, 0}}, {{0, 0, 0}, {0, 2, 0}}}, nullptr), alone) << "of one node";
}

TEST(link_contention, a_torus_has_a_link_from_its_last_node_to_its_first) {
  emulated_machine machine = contended({5, 1, 1});
  machine.topology = emulated_topology::torus;
  EXPECT_EQ(last_of(machine, {{{4, 0, 0}, {1, 0, 0}}}, nullptr), 7 + packets * 100 + 2 * 5);
  EXPECT_EQ(last_of(machine, {{{4, 0, 0}, {1, 0, 0}}, {{3, 0, 0}, {0, 0, 0}}}, nullptr),
            7 + 2 * packets * 100 + 2 * 5 - 5);
}

TEST(link_contention, streams_through_a_fat_tree_meet_where_their_receivers_are_equal_modulo_its_links) {
  emulated_machine machine = contended({16, 1, 1});
  machine.topology = emulated_topology::fat_tree;
  machine.switch_ports = 4;
  // Four links and three switches lead from one part of four nodes to another one, two links to a node of the same.
  constexpr std::int64_t alone = 7 + packets * 100;
  const auto function = [](std::int32_t node) { return coordinates{node, 0, 0}; };
  EXPECT_EQ(last_of(machine, {{function(0), function(4)}}, nullptr), alone + 3 * 5);
  EXPECT_EQ(last_of(machine, {{function(0), function(3)}}, nullptr), alone + 5);
  EXPECT_EQ(last_of(machine,
                    {{function(0), function(4)},
                     {function(1), function(5)},
                     {function(2), function(6)},
                     {function(3), function(7)}},
                    nullptr),
            alone + 3 * 5)
      << "as many links up as nodes";
  EXPECT_EQ(last_of(machine, {{function(0), function(4)}, {function(1), function(8)}}, nullptr),
            7 + 2 * packets * 100 + 3 * 5)
      << "4 and 8 are equal modulo 4";
  EXPECT_EQ(last_of(machine, {{function(0), function(8)}, {function(4), function(8)}}, nullptr),
            7 + 2 * packets * 100 + 3 * 5)
      << "one receiver";
  EXPECT_EQ(last_of(machine, {{function(0), function(8)}, {function(8), function(0)}}, nullptr), alone + 3 * 5)
      << "back and forth";
}

TEST(link_contention, streams_between_two_groups_of_a_dragonfly_share_one_global_link) {
  emulated_machine machine = contended({72, 1, 1});
  machine.topology = emulated_topology::dragonfly;
  machine.switch_ports = 2;  // groups of 4 routers of 2 nodes; routers 0 and 1 of group 0 lead to groups 1, 2 and 3, 4
  constexpr std::int64_t alone = 7 + packets * 100, shared = 7 + 2 * packets * 100;
  const auto function = [](std::int32_t node) { return coordinates{node, 0, 0}; };
  EXPECT_EQ(last_of(machine, {{function(0), function(1)}}, nullptr), alone + 5) << "one router";
  EXPECT_EQ(last_of(machine, {{function(0), function(2)}}, nullptr), alone + 2 * 5);
  EXPECT_EQ(last_of(machine, {{function(0), function(2)}, {function(1), function(3)}}, nullptr), shared + 2 * 5)
      << "one local link";
  EXPECT_EQ(last_of(machine, {{function(0), function(2)}, {function(1), function(4)}}, nullptr), alone + 2 * 5);
  // Router 0 of group 1 (nodes 8 and 9) leads to group 0.
  EXPECT_EQ(last_of(machine, {{function(0), function(8)}}, nullptr), alone + 2 * 5);
  EXPECT_EQ(last_of(machine, {{function(0), function(8)}, {function(1), function(9)}}, nullptr), shared + 2 * 5)
      << "one global link";
  EXPECT_EQ(last_of(machine, {{function(0), function(8)}, {function(1), function(16)}}, nullptr), alone + 2 * 5 + 0)
      << "of two";
  EXPECT_EQ(last_of(machine, {{function(7), function(15)}}, nullptr), alone + 4 * 5)
      << "to the exit and from the entry";
}

TEST(link_contention, a_packet_that_nobody_delays_takes_as_long_as_without_contention) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    emulated_machine machine = random_machine(seed, random_links::contended);
    const auto draw = [&](std::uint64_t number, std::int32_t below) {
      return static_cast<std::int32_t>(mix(seed, number) % static_cast<std::uint64_t>(below));
    };
    const coordinates source{draw(31, machine.grid.x), draw(32, machine.grid.y), draw(33, machine.grid.z)};
    const coordinates target{draw(34, machine.grid.x), draw(35, machine.grid.y), draw(36, machine.grid.z)};
    const auto is_missing = [&](const coordinates& place) {
      return std::find(machine.missing.begin(), machine.missing.end(), place) != machine.missing.end();
    };
    if (is_missing(source) || is_missing(target)) continue;
    const auto time = [&] {
      config configuration;
      configuration.set("ranks", "2");
      configuration.set("workers", "1");
      last_ns = 0;
      EXPECT_EQ(run(configuration,
                    [&](runtime& rt) {
                      emulate(rt, machine, [&](emulated_node& node) {
                        if (node.at() == source) node.send<note_arrival>(target);
                      });
                    }),
                0);
      return last_ns.load();
    };
    const std::int64_t partner = time();
    machine.contention = false;
    EXPECT_EQ(partner, time()) << "seed " << seed;
  }
}

TEST(link_contention, is_refused_where_it_has_no_model) {
  const auto expect_refused = [](auto change, const std::string& words) {
    emulated_machine machine = contended({4, 4, 1});
    check_machine(machine);
    change(machine);
    try {
      check_machine(machine);
      ADD_FAILURE() << "accepted, though " << words;
    } catch (const setup_error& error) {
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  };
  expect_refused([](emulated_machine& m) { m.bandwidth = 0; }, "give bandwidth");
  expect_refused([](emulated_machine& m) { m.hop = 0ns; }, "set hop");
}

}  // namespace
}  // namespace nacre::emulator
