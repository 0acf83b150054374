// SPDX-License-Identifier: Apache-2.0
// The links out of the nodes of a block, each of which carries one packet at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "emulator/event.hpp"
#include "emulator/travel_times.hpp"

namespace nacre::emulator {

/// Six links a node, one for each direction of each axis: 48 bytes a node. One thread at a time.
class link_clocks {
 public:
  link_clocks(std::uint32_t nodes, virtual_time transfer)
      : free_(std::size_t{nodes} * links_a_node), transfer_(transfer) {}

  /// A packet asks for a link at `time`, no earlier than any other has asked for it. Returns when the link begins to
  /// carry it; the link is free again a packet's transfer later.
  [[nodiscard]] virtual_time carry(std::uint32_t node, const link_step& link, virtual_time time) noexcept {
    virtual_time& free = free_[std::size_t{node} * links_a_node + 2U * link.axis + (link.up ? 1U : 0U)];
    const virtual_time start = std::max(time, free);
    free = start + transfer_;
    return start;
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(free_);
  }
  /// Whether these are the clocks of so many nodes, after reading them.
  [[nodiscard]] bool fit(std::uint32_t nodes) const noexcept {
    return free_.size() == std::size_t{nodes} * links_a_node;
  }

 private:
  static constexpr std::size_t links_a_node = 6;
  std::vector<virtual_time> free_;  ///< when each link is free
  virtual_time transfer_;
};

}  // namespace nacre::emulator
