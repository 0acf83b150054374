// SPDX-License-Identifier: Apache-2.0
// The ways and waits of messages over the simulator's links against the plainest model of them, on random machines.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <nacre/error.hpp>

#include "emulator/brute_force_links.hpp"
#include "emulator/brute_force_switches.hpp"
#include "emulator/random_programs.hpp"
#include "machine/host_links.hpp"

namespace {

using nacre::coordinates;
using nacre::emulated_machine;
using nacre::emulated_topology;
using nacre::emulator::brute_force_links;
using nacre::emulator::brute_force_switches;

/// A message; its head asks for its next link at `asks`.
struct traveller {
  std::uint32_t source = 0, target = 0;  // hosts
  std::int64_t asks = 0;
  bool is_there = false;
  std::size_t links = 0;
};

/// Moves the traveller that asks first, until all are there; of several that ask at once the first.
template <class Move>
std::vector<std::int64_t> arrivals(std::vector<traveller> all, Move move) {
  for (;;) {
    const auto next = std::min_element(all.begin(), all.end(), [](const traveller& a, const traveller& b) {
      return a.is_there != b.is_there ? b.is_there : a.asks < b.asks;
    });
    if (next->is_there) break;
    move(static_cast<std::size_t>(next - all.begin()), *next);
  }
  std::vector<std::int64_t> times;
  for (const traveller& each : all) times.push_back(each.asks);
  return times;
}

std::vector<coordinates> nodes_of(const emulated_machine& machine) {
  std::vector<coordinates> nodes;
  for (std::int32_t z = 0; z < machine.grid.z; ++z) {
    for (std::int32_t y = 0; y < machine.grid.y; ++y) {
      for (std::int32_t x = 0; x < machine.grid.x; ++x) {
        const coordinates place{x, y, z};
        if (std::find(machine.missing.begin(), machine.missing.end(), place) == machine.missing.end())
          nodes.push_back(place);
      }
    }
  }
  return nodes;
}

std::vector<std::int64_t> plain_arrivals(const emulated_machine& machine, const std::vector<traveller>& all) {
  const std::vector<coordinates> nodes = nodes_of(machine);
  const auto number = [&](const coordinates& place) {
    return static_cast<std::uint64_t>(place.x + machine.grid.x * (place.y + machine.grid.y * place.z));
  };
  brute_force_switches switches(machine);
  brute_force_links links(machine);
  std::vector<brute_force_links::packet_place> places;
  for (const traveller& each : all) places.push_back(links.start(nodes[each.source], nodes[each.target]));
  std::vector<std::int64_t> free_at;
  return arrivals(all, [&](std::size_t k, traveller& moved) {
    const coordinates target = nodes[moved.target];
    if (switches.any()) {
      const std::vector<std::size_t> way = switches.way(number(nodes[moved.source]), number(target));
      const std::size_t link = way[moved.links++];
      if (free_at.size() <= link) free_at.resize(link + 1);
      const std::int64_t begins = std::max(moved.asks, free_at[link]);
      free_at[link] = begins + links.transfer();
      moved.is_there = moved.links == way.size();
      moved.asks = begins + (moved.is_there ? 0 : machine.hop.count());
      return;
    }
    moved.asks = links.carry(places[k], target, moved.asks) + machine.hop.count();
    moved.is_there = places[k].position == target;
    if (!moved.is_there && machine.turns == nacre::turn_rule::counted && links.turns(places[k], target)) {
      moved.asks += machine.turn.count();
    }
  });
}

std::vector<std::int64_t> simulated_arrivals(const emulated_machine& machine, const std::vector<traveller>& all) {
  nacre::machine::host_links links(machine, static_cast<std::uint32_t>(nodes_of(machine).size()));
  std::vector<nacre::machine::message_way> ways;
  for (const traveller& each : all) ways.push_back(links.first_of(each.source, each.target));
  const std::int64_t passage_ps = 1000 * brute_force_links(machine).transfer();
  return arrivals(all, [&](std::size_t k, traveller& moved) {
    const auto passed = links.cross({moved.source, moved.target}, ways[k], moved.asks, passage_ps);
    moved.asks = passed.head_ns;
    moved.is_there = passed.is_last;
  });
}

/// A random machine; every third grid misses a fifth of its nodes, so that ways wind.
emulated_machine drawn_machine(std::uint64_t seed) {
  emulated_machine machine = nacre::emulator::random_machine(seed, nacre::emulator::random_links::contended);
  const bool grid = machine.topology == emulated_topology::mesh || machine.topology == emulated_topology::torus;
  if (!grid || seed % 3 != 0) return machine;
  machine.missing = nacre::parse_missing_nodes("20%@" + std::to_string(seed), machine.grid);
  return machine;
}

/// Whether all hosts have ways to each other.
bool is_connected(const emulated_machine& machine, std::size_t hosts) {
  try {
    const nacre::machine::host_links links(machine, static_cast<std::uint32_t>(hosts));
    return true;
  } catch (const nacre::setup_error&) {
    return false;
  }
}

TEST(simulated_links, carry_messages_as_the_plainest_model_does) {
  std::size_t waits = 0, winding = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const emulated_machine machine = drawn_machine(seed);
    const auto hosts = nodes_of(machine).size();
    if (hosts < 2 || !is_connected(machine, hosts)) continue;
    winding += machine.missing.size() > 4 ? 1 : 0;
    std::vector<traveller> all;
    for (std::uint64_t k = 0; k < 40; ++k) {
      const auto draw = [&](std::uint64_t number) { return nacre::emulator::mix(seed, number, k); };
      const auto source = static_cast<std::uint32_t>(draw(1) % hosts);
      const auto target = static_cast<std::uint32_t>((source + 1 + draw(2) % (hosts - 1)) % hosts);
      all.push_back({.source = source, .target = target, .asks = static_cast<std::int64_t>(draw(3) % 2000)});
    }
    const std::vector<std::int64_t> expected = plain_arrivals(machine, all);
    ASSERT_EQ(simulated_arrivals(machine, all), expected) << "seed " << seed;
    for (std::size_t k = 0; k < all.size(); ++k) waits += expected[k] > all[k].asks + 2000 ? 1 : 0;
  }
  EXPECT_GT(waits, 100U) << "links were busy";
  EXPECT_GT(winding, 10U);
}

}  // namespace
