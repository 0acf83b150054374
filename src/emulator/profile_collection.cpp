// SPDX-License-Identifier: Apache-2.0
// Puts the cells of a block's nodes where they belong in the whole grid.
#include "emulator/profile_collection.hpp"

#include <nacre/assert.hpp>
#include "emulator/block_profile.hpp"
#include "emulator/profile_cells.hpp"

namespace nacre::emulator {

profile_collection::profile_collection(profile_head& head)
    : block_bins_(profile_bins(head.machine.nodes())), shift_(profile_shift(head.counts.end.count(), block_bins_)) {
  head.bin_ns = std::uint64_t{1} << shift_;
  head.bins =
      static_cast<std::uint32_t>((static_cast<std::uint64_t>(head.counts.end.count()) + head.bin_ns - 1) >> shift_);
  bins_ = head.bins;
  cells_.resize(head.machine.nodes() * bins_);
}

void profile_collection::add(const brick& nodes, const partition& cut, std::span<const std::byte> encoded) {
  cell_decoder from(encoded);
  for (std::uint32_t node = 0; node < nodes.nodes(); ++node) {
    std::uint64_t* const row = cells_.data() + std::uint64_t{cut.number_of(nodes.at(node))} * bins_;
    for (std::uint32_t bin = 0; bin < block_bins_; ++bin) {
      const auto cell = from.next();
      NACRE_EXPECT(cell.has_value(), "a block sends a cell for each node and bin");
      if (bin < bins_) row[bin] = *cell;
    }
  }
}

}  // namespace nacre::emulator
