// SPDX-License-Identifier: Apache-2.0
// Hop counts against a search over the neighbours, and the shapes that are accepted.
#include "machine/topology.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include <nacre/error.hpp>

namespace nacre::machine {
namespace {

using shape = std::vector<std::uint32_t>;

enum class border { open, joined };

/// The places one step away from `place` along any dimension.
[[nodiscard]] std::vector<std::uint32_t> neighbours(const shape& extents, border edges, std::uint32_t place) {
  std::vector<std::uint32_t> values;
  std::uint32_t stride = 1;
  for (const std::uint32_t extent : extents) {
    const std::uint32_t index = place / stride % extent;
    const std::uint32_t origin = place - index * stride;
    if (index + 1 < extent || edges == border::joined) values.push_back(origin + (index + 1) % extent * stride);
    if (index > 0 || edges == border::joined) values.push_back(origin + (index + extent - 1) % extent * stride);
    stride *= extent;
  }
  return values;
}

/// Returns the steps from `start` to every place, by breadth-first search.
[[nodiscard]] std::vector<std::uint32_t> distances(const shape& extents, border edges, std::uint32_t start) {
  const std::uint32_t places = std::accumulate(extents.begin(), extents.end(), 1U, std::multiplies<>{});
  std::vector<std::uint32_t> steps(places, places);
  steps[start] = 0;
  for (std::deque<std::uint32_t> open{start}; !open.empty(); open.pop_front()) {
    for (const std::uint32_t next : neighbours(extents, edges, open.front())) {
      if (steps[next] != places) continue;
      steps[next] = steps[open.front()] + 1;
      open.push_back(next);
    }
  }
  return steps;
}

TEST(topology, hops_of_grids_are_the_steps_of_a_breadth_first_search) {
  for (const shape& extents : {shape{7}, shape{4, 5}, shape{3, 4, 5}, shape{2, 1, 6}, shape{2, 3, 2, 4}}) {
    for (const border edges : {border::open, border::joined}) {
      const std::uint32_t places = std::accumulate(extents.begin(), extents.end(), 1U, std::multiplies<>{});
      const topology_kind kind = edges == border::open ? topology_kind::mesh : topology_kind::torus;
      const auto wiring = make_topology({.kind = kind, .shape = extents}, places);
      for (std::uint32_t source = 0; source < places; ++source) {
        const auto steps = distances(extents, edges, source);
        for (std::uint32_t target = 0; target < places; ++target)
          ASSERT_EQ(wiring->hops(source, target), steps[target]) << source << ' ' << target;
      }
    }
  }
}

TEST(topology, a_fat_tree_counts_the_switches_up_to_the_common_one_and_down_again) {
  const auto tree = make_topology({.kind = topology_kind::fat_tree, .switch_ports = 4}, 64);
  EXPECT_EQ(tree->hops(5, 5), 0U);
  EXPECT_EQ(tree->hops(4, 7), 1U);
  EXPECT_EQ(tree->hops(3, 4), 3U);
  EXPECT_EQ(tree->hops(4, 3), 3U);
  EXPECT_EQ(tree->hops(15, 16), 5U);
  EXPECT_EQ(tree->hops(0, 63), 5U);
}

/// The fewest routers from one router of a dragonfly to each other one by at most one link between groups: a search
/// over the links as dragonfly.hpp describes them.
std::vector<std::uint32_t> routers_passed(std::uint32_t ports, std::uint32_t groups, std::uint32_t from_router) {
  const std::uint32_t of_a_group = 2 * ports, routers = groups * of_a_group;
  std::vector<std::uint32_t> passed(std::size_t{2} * routers, 0);  // before the link between groups, and after it
  std::deque<std::uint32_t> open{from_router};
  passed[from_router] = 1;
  const auto visit = [&](std::uint32_t source, std::uint32_t target) {
    if (passed[target] != 0) return;
    passed[target] = passed[source] + 1;
    open.push_back(target);
  };
  for (; !open.empty(); open.pop_front()) {
    const std::uint32_t state = open.front(), index = state % routers, group = index / of_a_group;
    const std::uint32_t previous = state - index;  // 0, or the number of routers once the link between groups is used
    for (std::uint32_t each = 0; each < of_a_group; ++each) visit(state, previous + group * of_a_group + each);
    if (previous != 0) continue;
    for (std::uint32_t k = 0; k < ports; ++k) {
      const std::uint32_t link = index % of_a_group * ports + k;
      const std::uint32_t other = link < group ? link : link + 1;
      // The way back is the link of the other group that is named after this one.
      const std::uint32_t back = group < other ? group : group - 1;
      visit(state, routers + other * of_a_group + back / ports);
    }
  }
  std::vector<std::uint32_t> least(passed.begin(), passed.begin() + routers);
  for (std::uint32_t router = 0; router < routers; ++router) {
    if (least[router] == 0) least[router] = passed[routers + router];
  }
  return least;
}

TEST(topology, a_dragonfly_counts_the_routers_of_the_shortest_path_and_never_more_than_four) {
  for (const std::uint32_t ports : {2U, 3U}) {
    const std::uint32_t groups = 2 * ports * ports + 1, hosts = groups * 2 * ports * ports;
    const auto wiring = make_topology({.kind = topology_kind::dragonfly, .switch_ports = ports}, hosts);
    std::uint32_t most = 0;
    for (std::uint32_t source = 0; source < hosts; ++source) {
      const auto passed = routers_passed(ports, groups, source / ports);
      for (std::uint32_t target = 0; target < hosts; ++target) {
        const std::uint32_t hops = wiring->hops(source, target);
        ASSERT_EQ(hops, wiring->hops(target, source));
        ASSERT_EQ(hops, source == target ? 0 : passed[target / ports]) << source << ' ' << target;
        most = std::max(most, hops);
      }
    }
    EXPECT_EQ(most, 4U);
  }
  EXPECT_THROW((void)make_topology({.kind = topology_kind::dragonfly, .switch_ports = 2}, 73), setup_error);
}

TEST(topology, flat_hosts_are_one_hop_apart) {
  const auto flat = make_topology({}, 1000);
  EXPECT_EQ(flat->hops(3, 3), 0U);
  EXPECT_EQ(flat->hops(0, 999), 1U);
}

TEST(topology, a_grid_without_shape_is_as_near_to_a_cube_as_covers_the_hosts) {
  const topology_options mesh{.kind = topology_kind::mesh, .shape = {}};
  EXPECT_EQ(make_topology(mesh, 64)->hops(0, 63), 9U);      // 4 x 4 x 4
  EXPECT_EQ(make_topology(mesh, 1000)->hops(0, 999), 27U);  // 10 x 10 x 10
  EXPECT_EQ(make_topology(mesh, 1)->hops(0, 0), 0U);
  EXPECT_EQ(make_topology(mesh, 12)->hops(0, 11), 4U);  // 3 x 2 x 2
}

TEST(topology, shapes_that_cannot_hold_the_hosts_are_refused_with_the_numbers) {
  const topology_options small{.kind = topology_kind::torus, .shape = {4, 4}};
  EXPECT_NO_THROW((void)make_topology(small, 16));
  try {
    (void)make_topology(small, 17);
    FAIL() << "17 hosts found a place in 16";
  } catch (const setup_error& refusal) {
    EXPECT_NE(std::string(refusal.what()).find("16 places for 17 hosts"), std::string::npos) << refusal.what();
  }
  EXPECT_THROW((void)make_topology({.kind = topology_kind::mesh, .shape = {4, 0}}, 1), setup_error);
  EXPECT_THROW((void)make_topology({.kind = topology_kind::fat_tree, .switch_ports = 1}, 4), setup_error);
  EXPECT_NO_THROW((void)make_topology({.kind = topology_kind::mesh, .shape = {1U << 31, 1U << 31, 4}}, 4));
}

TEST(topology, switches_join_no_more_hosts_than_their_shape_has_where_one_is_given) {
  for (const topology_kind kind : {topology_kind::fat_tree, topology_kind::dragonfly}) {
    topology_options options{.kind = kind, .shape = {4, 2, 2}, .switch_ports = 4};
    EXPECT_NE(make_topology(options, 16), nullptr);
    EXPECT_THROW(static_cast<void>(make_topology(options, 17)), setup_error);
    options.shape = {};
    EXPECT_NE(make_topology(options, 17), nullptr);
  }
}

TEST(topology, shapes_are_read_as_people_write_them) {
  EXPECT_EQ(parse_shape("8x8x4"), (shape{8, 8, 4}));
  EXPECT_EQ(parse_shape("12"), shape{12});
  EXPECT_EQ(parse_shape(""), shape{});
  for (const char* text : {"8x", "x8", "8xx4", "8*4", "-8x4", "8x4 ", "99999999999"}) {
    EXPECT_THROW((void)parse_shape(text), setup_error) << text;
  }
}

}  // namespace
}  // namespace nacre::machine
