// SPDX-License-Identifier: Apache-2.0
// Puts the cells of a block's nodes where they belong in the whole grid.
#include "emulator/profile_collection.hpp"

#include <algorithm>

#include <nacre/assert.hpp>
#include "emulator/block_profile.hpp"
#include "emulator/profile_cells.hpp"

namespace nacre::emulator {

profile_collection::profile_collection(profile_head& head)
    : block_bins_(profile_bins(head.machine.nodes())), shift_(profile_shift(head.counts.end.count(), block_bins_)) {
  head.bin_ns = std::uint64_t{1} << shift_;
  const auto end = static_cast<std::uint64_t>(head.counts.end.count());
  // An emulation that took no virtual time has a bin as well, which is empty.
  head.bins = std::max(static_cast<std::uint32_t>((end + head.bin_ns - 1) >> shift_), 1U);
  bins_ = head.bins;
  handlers_.resize(head.machine.nodes());
  cells_.resize(head.machine.nodes() * bins_);
}

void profile_collection::add(const brick& nodes, const partition& cut, std::span<const std::byte> encoded) {
  cell_decoder cell_decoder(encoded);
  for (std::uint32_t node = 0; node < nodes.nodes(); ++node) {
    const std::uint64_t number = cut.number_of(nodes.at(node));
    const auto next = [&] {
      const auto value = cell_decoder.next();
      NACRE_EXPECT(value.has_value(), "a block sends the handlers of each node, and a cell for each of its bins");
      return *value;
    };
    handlers_[number] = next();
    for (std::uint32_t bin = 0; bin < block_bins_; ++bin) {
      const std::uint64_t cell = next();
      if (bin < bins_) cells_[number * bins_ + bin] = cell;
    }
  }
}

}  // namespace nacre::emulator
