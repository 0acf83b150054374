// SPDX-License-Identifier: Apache-2.0
// The links of a fat tree and of a dragonfly, and the ways of packets over them.
#pragma once

#include <cstdint>

#include <nacre/emulated_machine.hpp>

namespace nacre::machine {

/// A directed link between two switches, or between a switch and a node.
struct switch_link {
  std::uint64_t id = 0;     ///< differs from that of any other link of the machine
  std::uint32_t owner = 0;  ///< number of the node whose block keeps the clock of the link
  bool is_last = false;     ///< leads to the receiver
};

/// The links that a packet takes one after the other: out of its sender, from switch to switch, and to its receiver.
/// They are one more than the switches on its way, each of which takes a hop. The sender owns the first one, the
/// receiver the last.
///
/// Fat tree: a switch of level k has under it the nodes of one part of `switch_ports` to the power of k nodes, and as
/// many links up, and down from the switch above it, as it has nodes: the full bisection of a k-ary n-tree. Routing is
/// destination-modulo-k (Gomez and others, Deterministic versus Adaptive Routing in Fat-Trees, CAC 2007): the packet
/// climbs over the link whose number is that of its receiver, modulo the number of these links, and descends over links
/// that lead to its receiver alone.
///
/// Dragonfly: local links between the routers of a group, one in each direction for each pair, and global links between
/// the groups; the way of machine::dragonfly.
class switch_links {
 public:
  explicit switch_links(const emulated_machine& machine) noexcept
      : is_dragonfly_(machine.topology == emulated_topology::dragonfly),
        ports_(machine.switch_ports),
        nodes_(machine.nodes()) {}

  /// The link of this number on the way between two different nodes; the last one for all higher numbers.
  [[nodiscard]] switch_link link(std::uint32_t source, std::uint32_t target, std::uint32_t number) const noexcept {
    return is_dragonfly_ ? dragonfly_link(source, target, number) : tree_link(source, target, number);
  }

 private:
  [[nodiscard]] switch_link tree_link(std::uint32_t source, std::uint32_t target, std::uint32_t number) const noexcept;
  [[nodiscard]] switch_link dragonfly_link(std::uint32_t source, std::uint32_t target,
                                           std::uint32_t number) const noexcept;

  bool is_dragonfly_;
  std::uint32_t ports_;
  std::uint64_t nodes_;
};

}  // namespace nacre::machine
