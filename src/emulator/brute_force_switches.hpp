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
  std::vector<std::size_t> way(std::uint64_t source, std::uint64_t target) {
    std::vector<name> links;
    if (is_tree_) {
      climb(source, target, links);
    } else {
      cross(source, target, links);
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
  std::uint64_t number_of_link(std::uint64_t level, std::uint64_t index, std::uint64_t target) const {
    std::uint64_t nodes = 0;
    for (std::uint64_t node = 0; node < nodes_; ++node) nodes += above(node, level) == index ? 1 : 0;
    return target % nodes;
  }
  void climb(std::uint64_t source, std::uint64_t target, std::vector<name>& links) const {
    std::uint64_t level = 0;
    for (; above(source, level) != above(target, level); ++level) {
      links.push_back({up, level, above(source, level), number_of_link(level, above(source, level), target)});
    }
    while (level-- > 0)
      links.push_back({down, level, above(target, level), number_of_link(level, above(target, level), target)});
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
  std::uint64_t exit_to(std::uint64_t group, std::uint64_t index) const {
    std::uint64_t router = index * 2 * ports_;
    while (!leads_to(router, group)) ++router;
    return router;
  }
  void cross(std::uint64_t source, std::uint64_t target, std::vector<name>& links) const {
    std::uint64_t index = source / ports_;
    const std::uint64_t last = target / ports_;
    const auto go = [&](std::uint64_t kind, std::uint64_t next) {
      if (next != index) links.push_back({kind, index, next, 0});
      index = next;
    };
    links.push_back({up, source, 0, 0});
    if (const std::uint64_t local_count = group_of(index), present_count = group_of(last);
        local_count != present_count) {
      go(local, exit_to(present_count, local_count));
      go(global, exit_to(local_count, present_count));
    }
    go(local, last);
    links.push_back({down, target, 0, 0});
  }

  std::uint64_t nodes_, ports_;
  bool is_tree_, any_;
  std::map<name, std::size_t> numbers_;
};

}  // namespace nacre::emulator
