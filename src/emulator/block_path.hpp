// SPDX-License-Identifier: Apache-2.0
// The critical path within a block: which handler stands before which.
#pragma once

#include <cstdint>

#include <nacre/emulator.hpp>
#include "emulator/partition.hpp"
#include "emulator/path_log.hpp"
#include "emulator/path_pieces.hpp"

namespace nacre::emulator {

/// The log of a block's handlers, with what it takes to follow a path through them.
class block_path {
 public:
  block_path(const emulated_machine& machine, std::uint32_t blocks, std::uint32_t block)
      : partition_(machine.grid, blocks), block_(block), brick_(partition_.brick_of(block)), log_(brick_.nodes()) {}

  void add(const path_record& one) { log_.add(one); }
  /// The last handler of the block. Only when all windows have run; `walk` needs it first.
  [[nodiscard]] path_end end();
  /// Follows the path back within this block, which has the place of the cursor.
  [[nodiscard]] path_piece walk(const path_cursor& path_cursor) const;

  template <class Archive>
  void serialize(Archive& ar) {
    ar(log_);
  }

 private:
  [[nodiscard]] critical_step step_of(const path_record& record) const;
  /// The number of a node of this block in the whole grid.
  [[nodiscard]] std::uint32_t number_of(std::uint32_t node) const { return partition_.number_of(brick_.at(node)); }

  partition partition_;
  std::uint32_t block_;
  brick brick_;
  path_log log_;
};

}  // namespace nacre::emulator
