// SPDX-License-Identifier: Apache-2.0
// For tests: ways through the switches of a fat tree and of a dragonfly, found by looking at all switches.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include <nacre/emulator.hpp>

namespace nacre::emulator {

/// Links have names of four numbers, and are numbered in the order of their first use.
class brute_force_switches {
 public:
  explicit brute_force_switches(const emulated_machine& machine)
      : nodes_(machine.nodes()),
        ports_(machine.switch_ports),
        is_tree_(machine.topology == emulated_topology::fat_tree),
        any_(is_tree_ || machine.topology == emulated_topology::dragonfly) {}

  [[nodiscard]] bool any() const { return any_; }
  /// The links from node to node.
  std::vector<std::size_t> way(std::uint64_t from, std::uint64_t to) {
    std::vector<name> links;
    if (is_tree_) {
      climb(from, to, links);
    } else {
      cross(from, to, links);
    }
    std::vector<std::size_t> numbers;
    for (const name& link : links) numbers.push_back(numbers_.try_emplace(link, numbers_.size()).first->second);
    return numbers;
  }

 private:
  using name = std::array<std::uint64_t, 4>;
  enum : std::uint64_t { up, down, local, global };

  /// The switch of a level above a node.
  std::uint64_t above(std::uint64_t node, std::uint64_t level) const {
    for (; level > 0; --level) node /= ports_;
    return node;
  }
  /// A switch has as many links up, and down to it, as nodes. A packet takes those of its receiver's number.
  std::uint64_t number_of_link(std::uint64_t level, std::uint64_t at, std::uint64_t to) const {
    std::uint64_t nodes = 0;
    for (std::uint64_t node = 0; node < nodes_; ++node) nodes += above(node, level) == at ? 1 : 0;
    return to % nodes;
  }
  void climb(std::uint64_t from, std::uint64_t to, std::vector<name>& links) const {
    std::uint64_t level = 0;
    for (; above(from, level) != above(to, level); ++level) {
      links.push_back({up, level, above(from, level), number_of_link(level, above(from, level), to)});
    }
    while (level-- > 0) links.push_back({down, level, above(to, level), number_of_link(level, above(to, level), to)});
  }

  std::uint64_t group_of(std::uint64_t router) const { return router / (2 * ports_); }
  bool leads_to(std::uint64_t router, std::uint64_t group) const {
    for (std::uint64_t port = 0; port < ports_; ++port) {
      const std::uint64_t link = router % (2 * ports_) * ports_ + port;
      if ((link < group_of(router) ? link : link + 1) == group) return true;
    }
    return false;
  }
  /// The router of one group that has the link to another one.
  std::uint64_t exit_to(std::uint64_t group, std::uint64_t of) const {
    std::uint64_t router = of * 2 * ports_;
    while (!leads_to(router, group)) ++router;
    return router;
  }
  void cross(std::uint64_t from, std::uint64_t to, std::vector<name>& links) const {
    std::uint64_t at = from / ports_;
    const std::uint64_t last = to / ports_;
    const auto go = [&](std::uint64_t kind, std::uint64_t next) {
      if (next != at) links.push_back({kind, at, next, 0});
      at = next;
    };
    links.push_back({up, from, 0, 0});
    if (const std::uint64_t here = group_of(at), there = group_of(last); here != there) {
      go(local, exit_to(there, here));
      go(global, exit_to(here, there));
    }
    go(local, last);
    links.push_back({down, to, 0, 0});
  }

  std::uint64_t nodes_, ports_;
  bool is_tree_, any_;
  std::map<name, std::size_t> numbers_;
};

}  // namespace nacre::emulator
