// SPDX-License-Identifier: Apache-2.0
// Brings the profiles of all blocks together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "emulator/partition.hpp"
#include "emulator/profile_file.hpp"

namespace nacre::emulator {

/// The cells of all nodes in the order of their numbers, for one head. 8 bytes for each node, and for each
/// of its bins.
class profile_collection {
 public:
  /// Sets bin_ns and bins of the head by its machine and its counts.
  explicit profile_collection(profile_head& head);
  /// The bins of blocks, as block_profile::encode wants them.
  [[nodiscard]] std::uint32_t shift() const noexcept { return shift_; }
  /// Takes the cells that a block has encoded, of block_bins_ bins each node.
  void add(const brick& nodes, const partition& cut, std::span<const std::byte> encoded);
  [[nodiscard]] profile_content content() const noexcept { return {handlers_, cells_}; }

 private:
  std::uint32_t block_bins_, shift_, bins_;
  std::vector<std::uint64_t> handlers_, cells_;
};

}  // namespace nacre::emulator
