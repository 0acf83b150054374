// SPDX-License-Identifier: Apache-2.0
// Discards of cells and of packets.
#include "machine/cell_port.hpp"

#include <nacre/assert.hpp>

namespace nacre::machine {

cell_port::cell_port(const cell_port_options& options)
    : discard_(options.discard),
      threshold_cells_(options.threshold_cells),
      queue_({.ports = 1,
              .bytes_per_second = options.bytes_per_second,
              .buffer = options.buffer_cells,
              .unit = buffer_unit::cells,
              .cell_bytes = atm_cell_bytes}),
      circuits_(options.circuits, packet_state::whole) {}

bool cell_port::is_discarded(const atm_cell& cell, std::chrono::nanoseconds now) {
  packet_state& state = circuits_[cell.circuit];
  if (cell.is_first()) {
    const bool refuses = discard_ == cell_discard::early && occupied_cells(now) >= threshold_cells_;
    state = refuses ? packet_state::refused : packet_state::whole;
  }
  if (state == packet_state::damaged) return discard_ == cell_discard::rest || !cell.is_last();
  return state == packet_state::refused;
}

std::optional<std::chrono::nanoseconds> cell_port::arrive(const atm_cell& cell, std::chrono::nanoseconds now) {
  NACRE_EXPECT(cell.circuit < circuits_.size(), "no such circuit");
  NACRE_EXPECT(cell.place < cell.length, "no such cell in its packet");
  if (is_discarded(cell, now)) {
    discarded_ += 1;
    return std::nullopt;
  }
  const auto leaves = queue_.arrive(0, atm_cell_bytes, now);
  if (!leaves && discard_ != cell_discard::tail) circuits_[cell.circuit] = packet_state::damaged;
  return leaves;
}

bool packet_assembly::arrive(const atm_cell& cell) noexcept {
  if (cells_ == 0) packet_ = cell.packet;
  cells_ += 1;
  if (!cell.is_last()) return false;
  const bool is_whole = packet_ == cell.packet && cells_ == cell.length;
  cells_ = 0;
  return is_whole;
}

}  // namespace nacre::machine
