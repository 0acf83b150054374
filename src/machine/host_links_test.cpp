// SPDX-License-Identifier: Apache-2.0
// Hosts around missing nodes, and messages that wait for links, by hand.
#include "machine/host_links.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <nacre/error.hpp>

namespace nacre::machine {
namespace {

using namespace std::chrono_literals;

[[nodiscard]] emulated_machine mesh(const coordinates& grid) {
  return {.grid = grid, .hop = 10ns, .turns = turn_rule::counted};
}

TEST(host_links, hosts_live_around_missing_nodes_and_messages_go_around_them) {
  emulated_machine machine = mesh({4, 3, 1});
  machine.missing = {{1, 0, 0}, {2, 1, 0}};
  const host_links links(machine, 10);
  const std::vector<std::uint32_t> nodes{0, 2, 3, 4, 5, 7, 8, 9, 10, 11};
  for (std::uint32_t host = 0; host < nodes.size(); ++host) EXPECT_EQ(links.node_of(host), nodes[host]);
  // From (0, 0) to (2, 0): up two rows, over to x = 3, down two, and back.
  EXPECT_EQ(links.route_of(0, 1).hops, 8U);
  EXPECT_EQ(links.route_of(0, 1).turns, 3U);
  EXPECT_EQ(links.route_of(0, 3).hops, 1U) << "(0, 1)";
  EXPECT_EQ(links.route_of(6, 9).hops, 3U) << "along the row y = 2";
}

TEST(host_links, too_few_nodes_and_hosts_that_nobody_reaches_are_refused) {
  const auto expect_refused = [](const emulated_machine& machine, std::uint32_t hosts, const std::string& words) {
    try {
      const host_links links(machine, hosts);
      ADD_FAILURE() << "accepted, though " << words;
    } catch (const setup_error& error) {
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  };
  emulated_machine machine = mesh({3, 3, 1});
  machine.missing = {{1, 0, 0}, {0, 1, 0}};
  expect_refused(machine, 8, "7 nodes for 8 hosts");
  expect_refused(machine, 7, "no way to node 2,0,0");
  machine.topology = emulated_topology::torus;
  EXPECT_EQ(host_links(machine, 7).route_of(0, 1).hops, 1U) << "round the border";
  machine.topology = emulated_topology::fat_tree;
  machine.switch_ports = 3;
  EXPECT_EQ(host_links(machine, 7).route_of(0, 1).hops, 1U) << "nodes of a tree pass nothing on";
}

/// Lets one message after the other over all its links; all heads ask at time 0. Returns when each head is there.
[[nodiscard]] std::vector<virtual_time> heads_of(host_links& links, const std::vector<host_links::ends>& messages) {
  struct on_its_way {
    message_way way;
    virtual_time asks = 0;
    bool is_there = false;
  };
  std::vector<on_its_way> all;
  for (const host_links::ends& each : messages) all.push_back({links.first_of(each.source, each.target)});
  while (true) {
    std::size_t next = all.size();
    for (std::size_t k = 0; k < all.size(); ++k) {
      if (!all[k].is_there && (next == all.size() || all[k].asks < all[next].asks)) next = k;
    }
    if (next == all.size()) break;
    const auto passed = links.cross(messages[next], all[next].way, all[next].asks, 100'000);
    all[next].asks = passed.head_ns;
    all[next].is_there = passed.is_last;
  }
  std::vector<virtual_time> heads;
  for (const on_its_way& each : all) heads.push_back(each.asks);
  return heads;
}

TEST(host_links, messages_that_share_a_link_pass_it_one_after_the_other) {
  using times = std::vector<virtual_time>;
  host_links alone(mesh({4, 1, 1}), 4);
  EXPECT_EQ(heads_of(alone, {{0, 3}}), (times{30}));
  // The second has the link from 1 to 2 from 0 to 100; the first is at 1 after 10.
  host_links shared(mesh({4, 1, 1}), 4);
  EXPECT_EQ(heads_of(shared, {{0, 2}, {1, 3}}), (times{110, 20}));
  host_links crossing(mesh({3, 3, 1}), 9);
  EXPECT_EQ(heads_of(crossing, {{3, 5}, {1, 7}, {5, 3}}), (times{20, 20, 20})) << "different links, and both ways";
  host_links one_link(mesh({2, 1, 1}), 2);
  EXPECT_EQ(heads_of(one_link, {{0, 1}, {0, 1}, {0, 1}}), (times{10, 110, 210}));
}

TEST(host_links, messages_through_switches_meet_on_the_links_of_their_receivers) {
  using times = std::vector<virtual_time>;
  emulated_machine tree = mesh({16, 1, 1});
  tree.topology = emulated_topology::fat_tree;
  tree.switch_ports = 4;
  host_links links(tree, 16);
  EXPECT_EQ(heads_of(links, {{0, 4}, {1, 5}}), (times{30, 30})) << "three switches";
  host_links busy(tree, 16);
  EXPECT_EQ(heads_of(busy, {{0, 8}, {4, 8}}), (times{30, 130})) << "the link down to 8";
}

TEST(host_links, turns_that_are_counted_take_their_time_at_the_corner) {
  emulated_machine machine = mesh({3, 3, 1});
  machine.turn = 7ns;
  host_links links(machine, 9);
  EXPECT_EQ(heads_of(links, {{0, 8}}), (std::vector<virtual_time>{4 * 10 + 7}));
  EXPECT_EQ(links.route_of(0, 8).turns, 1U);
}

}  // namespace
}  // namespace nacre::machine
