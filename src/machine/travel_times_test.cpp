// SPDX-License-Identifier: Apache-2.0
// Ways around missing nodes against a search of everything, and what is kept of them.
#include "machine/travel_times.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <nacre/rng.hpp>

namespace nacre::machine {
namespace {

using namespace std::chrono_literals;

using length = std::pair<std::uint32_t, std::uint32_t>;  // hops, turns
constexpr length no_way{1000, 0};

[[nodiscard]] emulated_machine machine_without(const coordinates& grid, emulated_topology topology,
                                               std::vector<coordinates> missing) {
  emulated_machine machine{.grid = grid, .hop = 10ns, .turns = turn_rule::counted};
  machine.topology = topology;
  machine.missing = std::move(missing);
  return machine;
}

[[nodiscard]] emulated_machine drawn_machine(rng& random) {
  const coordinates grid{1 + random.below(4), 1 + random.below(4), 1 + random.below(3)};
  std::vector<coordinates> missing;
  for (std::int32_t x = 0; x < grid.x; ++x) {
    for (std::int32_t y = 0; y < grid.y; ++y) {
      for (std::int32_t z = 0; z < grid.z; ++z) {
        if (random.below(5) == 0) missing.emplace_back(x, y, z);
      }
    }
  }
  const auto topology = random.below(2) == 0 ? emulated_topology::mesh : emulated_topology::torus;
  return machine_without(grid, topology, std::move(missing));
}

/// The lengths that are left to one target, from each node by each axis of arrival.
class all_rests {
 public:
  all_rests(const travel_times& times, std::uint32_t nodes, const coordinates& target)
      : times_(times), rests_(nodes, {no_way, no_way, no_way, no_way}) {
    rests_[times.number_of(target)] = {};
    for (bool changes = true; changes;) {
      changes = false;
      for (std::uint32_t node = 0; node < nodes; ++node) {
        for (std::uint8_t axis = 0; axis < 4; ++axis) changes = improve(node, axis) || changes;
      }
    }
  }
  [[nodiscard]] length from(const coordinates& place, std::uint8_t axis) const {
    return rests_[times_.number_of(place)][axis];
  }
  /// With the link to a neighbour.
  [[nodiscard]] length over(const coordinates& next, std::size_t link, std::uint8_t arrived) const {
    const length rest = rests_[times_.number_of(next)][link];
    return {rest.first + 1, rest.second + (arrived != packet_way::no_axis && arrived != link ? 1 : 0)};
  }

 private:
  bool improve(std::uint32_t node, std::uint8_t axis) {
    const length previous = rests_[node][axis];
    times_.for_each_neighbour(times_.place_of(node), [&](const coordinates& next, std::size_t link, std::int32_t) {
      rests_[node][axis] = std::min(rests_[node][axis], over(next, link, axis));
    });
    return rests_[node][axis] != previous;
  }

  const travel_times& times_;
  std::vector<std::array<length, 4>> rests_;
};

/// The first of the links with the shortest rest.
[[nodiscard]] link_step expected_step(const travel_times& times, const all_rests& rests, const coordinates& place,
                                      std::uint8_t arrived) {
  link_step best;
  length least{~0U, 0};
  times.for_each_neighbour(place, [&](const coordinates& next, std::size_t axis, std::int32_t step) {
    const length rest = rests.over(next, axis, arrived);
    if (rest >= least) return;
    least = rest;
    best = {static_cast<std::uint8_t>(axis), step > 0, next};
  });
  return best;
}

void expect_ways_to(const travel_times& times, std::uint32_t nodes, const coordinates& target) {
  const all_rests rests(times, nodes, target);
  for (std::uint32_t node = 0; node < nodes; ++node) {
    const coordinates place = times.place_of(node);
    if (place == target || !times.exists(place) || rests.from(place, packet_way::no_axis) >= no_way) continue;
    for (std::uint8_t arrived = 0; arrived <= packet_way::no_axis; ++arrived) {
      const link_step step = times.first_step(place, target, {.axis = arrived, .detour = true});
      const link_step expected = expected_step(times, rests, place, arrived);
      ASSERT_EQ(step.target, expected.target) << node << " by " << int(arrived);
      ASSERT_EQ(step.axis, expected.axis);
      ASSERT_EQ(step.up, expected.up);
    }
    if (!times.detours(place, target)) continue;
    const route way = times.route_of(place, target);
    EXPECT_EQ(length(way.hops, way.turns), rests.from(place, packet_way::no_axis));
  }
}

TEST(travel_times, ways_around_missing_nodes_are_those_of_a_search_of_everything) {
  rng random(1);
  for (int round = 0; round < 60; ++round) {
    const emulated_machine machine = drawn_machine(random);
    const auto nodes = static_cast<std::uint32_t>(machine.nodes());
    const travel_times all(machine), few(machine, 5);
    for (std::uint32_t node = 0; node < nodes; ++node) {
      const coordinates target = all.place_of(node);
      if (!all.exists(target)) continue;
      expect_ways_to(all, nodes, target);
      expect_ways_to(few, nodes, target);
      EXPECT_LE(few.rests_kept(), 5U);
    }
  }
}

TEST(travel_times, a_packet_on_a_detour_leaves_one_rest_for_each_hop) {
  const coordinates grid{34, 34, 36};
  const travel_times times(machine_without(grid, emulated_topology::mesh, parse_missing_nodes("1%", grid)));
  rng random(2);
  int detours = 0;
  for (int round = 0; round < 1000; ++round) {
    const auto source = times.place_of(static_cast<std::uint32_t>(random.below(34 * 34 * 36)));
    const auto target = times.place_of(static_cast<std::uint32_t>(random.below(34 * 34 * 36)));
    if (source == target || !times.exists(source) || !times.exists(target) || !times.detours(source, target)) continue;
    const std::size_t previous = times.rests_kept();
    packet_way way{.detour = true};
    std::uint32_t hops = 0;
    for (coordinates place = source; place != target; ++hops) {
      const link_step step = times.first_step(place, target, way);
      place = step.target;
      way.axis = step.axis;
    }
    EXPECT_EQ(hops, times.route_of(source, target).hops);
    EXPECT_LE(times.rests_kept(), previous + hops);
    ++detours;
  }
  EXPECT_GT(detours, 100);
}

}  // namespace
}  // namespace nacre::machine
