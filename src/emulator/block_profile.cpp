// SPDX-License-Identifier: Apache-2.0
// Makes bins wider, and brings all nodes to one width at the end.
#include "emulator/block_profile.hpp"

#include <algorithm>
#include <bit>

#include "emulator/profile_cells.hpp"

namespace nacre::emulator {

std::uint32_t profile_bins(std::uint64_t nodes) noexcept {
  constexpr std::uint64_t cells = (std::uint64_t{64} << 20) / sizeof(std::uint64_t);
  const std::uint64_t each = std::bit_floor(cells / std::max<std::uint64_t>(nodes, 1));
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(each, 8, 256));
}

std::uint32_t profile_shift(virtual_time end, std::uint32_t bins) noexcept {
  std::uint32_t shift = 0;
  while (end > 0 && static_cast<std::uint64_t>(end - 1) >> shift >= bins) ++shift;
  return shift;
}

void block_profile::widen(row& row) {
  const std::size_t half = row.cells.size() / 2;
  for (std::size_t bin = 0; bin < half; ++bin) row.cells[bin] = row.cells[2 * bin] + row.cells[2 * bin + 1];
  std::fill(row.cells.begin() + static_cast<std::ptrdiff_t>(half), row.cells.end(), 0);
  ++row.shift;
}

void block_profile::make_room(row& row, virtual_time end) {
  const std::uint32_t shift = profile_shift(end, bins_);
  if (row.cells.empty()) {
    row.cells.resize(bins_);
    row.shift = shift;
  }
  while (row.shift < shift) widen(row);
}

std::vector<std::byte> block_profile::encode(std::uint32_t shift) {
  cell_encoder out;
  for (row& row : rows_) {
    out.put(row.handlers);
    if (row.cells.empty()) {
      out.idle(bins_);
      continue;
    }
    while (row.shift < shift) widen(row);
    for (const std::uint64_t cell : row.cells) out.put(cell);
  }
  return out.take();
}

}  // namespace nacre::emulator
