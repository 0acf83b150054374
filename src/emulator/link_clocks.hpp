// SPDX-License-Identifier: Apache-2.0
// The links that a block keeps, each of which carries one packet at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "emulator/event.hpp"
#include "machine/switch_links.hpp"
#include "machine/travel_times.hpp"

namespace nacre::emulator {

/// On a grid six links a node, one for each direction of each axis: 48 bytes a node. Those between switches are kept
/// from their first use on. One thread at a time.
class link_clocks {
 public:
  link_clocks(const machine::travel_times& times, std::uint32_t nodes)
      : size_(times.is_grid() ? std::size_t{nodes} * links_a_node : 0), free_(size_), transfer_(times.transfer()) {}

  /// A packet asks for a link at `time`, no earlier than any other has asked for it. Returns when the link begins to
  /// carry it; the link is free again a packet's transfer later.
  [[nodiscard]] virtual_time carry(std::uint32_t node, const machine::link_step& link, virtual_time time) noexcept {
    return carry_by(free_[std::size_t{node} * links_a_node + 2U * link.axis + (link.up ? 1U : 0U)], time);
  }
  [[nodiscard]] virtual_time carry(const machine::switch_link& link, virtual_time time) {
    return carry_by(free_by_id_[link.id], time);
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(free_, free_by_id_);
  }
  /// Whether these are clocks of such a block, after reading them.
  [[nodiscard]] bool fit() const noexcept { return free_.size() == size_ && (size_ == 0 || free_by_id_.empty()); }

 private:
  [[nodiscard]] virtual_time carry_by(virtual_time& free, virtual_time time) const noexcept {
    const virtual_time start = std::max(time, free);
    free = start + transfer_;
    return start;
  }
  static constexpr std::size_t links_a_node = 6;
  std::size_t size_;
  std::vector<virtual_time> free_;  ///< when each link of a grid is free
  std::unordered_map<std::uint64_t, virtual_time> free_by_id_;
  virtual_time transfer_;
};

}  // namespace nacre::emulator
