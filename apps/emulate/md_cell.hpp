// SPDX-License-Identifier: Apache-2.0
// The cell of a node in the molecular dynamics: its atoms, and the packets that have come from the cells around it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "md_forces.hpp"

namespace emulate {

/// The cells around a cell by their direction, (x + 1) + 3 * (y + 1) + 9 * (z + 1); the middle is the cell itself.
inline constexpr std::uint32_t directions = 27, middle = 13;
[[nodiscard]] constexpr std::int32_t along(std::uint32_t direction, std::uint32_t axis) noexcept {
  const std::uint32_t power = axis == 0 ? 1 : axis == 1 ? 3 : 9;
  return static_cast<std::int32_t>(direction / power % 3) - 1;
}

/// Atoms on their way from cell to cell: five by position and charge, or two in full.
struct atom_packet {
  std::uint32_t round = 0;
  std::uint8_t direction = 0;  ///< of the sender as its receiver sees it; from bit 5 the part of the receiver's work
  std::uint8_t part = 0;
  std::uint8_t parts = 0;            ///< packets of this direction in this round, at least 1
  std::uint8_t atoms_and_signs = 0;  ///< how many atoms, and from bit 3 which of them are negative
  std::array<double, 15> words{};

  static constexpr std::size_t positions_max = 5, whole_max = 2;
  /// Marks the packet for this part of its receiver's work (work_place).
  void address(std::uint32_t receiver_part) noexcept {
    direction = static_cast<std::uint8_t>(direction | receiver_part << 5);
  }
  /// Takes the mark away.
  [[nodiscard]] std::uint32_t take_address() noexcept {
    const std::uint32_t receiver_part = direction >> 5;
    direction &= 31;
    return receiver_part;
  }
  [[nodiscard]] std::uint32_t atoms() const noexcept { return atoms_and_signs & 7u; }
  [[nodiscard]] double charge(std::uint32_t k) const noexcept { return (atoms_and_signs >> (3 + k) & 1) != 0 ? -1 : 1; }
  void add_position(const vector3& position, std::int32_t charge) noexcept;
  void add_whole(const atom& one) noexcept;
  [[nodiscard]] vector3 position(std::uint32_t k) const noexcept {
    return {words[3 * k], words[3 * k + 1], words[3 * k + 2]};
  }
  [[nodiscard]] atom whole(std::uint32_t k) const noexcept;
};
static_assert(sizeof(atom_packet) == nacre::packet_bytes_max);

/// The packets of one round.
struct inbox {
  std::vector<atom_packet> packets;
  std::array<std::uint8_t, directions> seen{};
  std::uint32_t complete = 0;  ///< directions of which all packets are here

  void take(const atom_packet& packet);
  [[nodiscard]] bool is_complete() const noexcept { return complete == directions - 1; }
  /// Empties it. The order of the packets is that of directions and parts, however they came.
  [[nodiscard]] std::vector<atom_packet> release();
  template <class Archive>
  void serialize(Archive& ar) {
    ar(packets, seen, complete);
  }
};

/// Sums over atoms.
struct atom_sums {
  double kinetic = 0, potential = 0;
  vector3 momentum{};
  std::uint64_t moved = 0;  ///< atoms that have changed their cells since the last sums
  void add(const atom_sums& other) noexcept;
};

/// In a round each cell hears from all cells around it, even if only that they have nothing. A neighbour may be one
/// round ahead, never two, because it needs this cell's packets for the next.
struct md_cell {
  std::vector<atom> atoms;  ///< in the order of their ids
  std::vector<force_on> first_forces;
  std::array<inbox, 2> inboxes;  ///< of even and odd rounds
  std::uint32_t round = 0;       ///< the one whose packets it waits for
  std::uint32_t step = 0;
  std::uint32_t steps = 0;
  std::uint32_t sums_every = 1;
  bool migrates = true;       ///< the packets of this round hold whole atoms
  bool keeps_forces = false;  ///< of the first step
  std::int64_t work_ns = 0;
  std::uint64_t moved = 0;
  std::vector<atom_packet> neighbours;  ///< of this round, while forces are computed
  std::vector<vector3> forces;          ///< on the atoms
  std::vector<double> potentials;       ///< of the atoms
  std::uint32_t pieces = 1;             ///< handlers that compute the forces beside each other
  std::uint32_t pieces_left = 0;        ///< of them have not begun
  std::int64_t pieces_end_ns = 0;       ///< when the others end, without a handler's constant cost
  template <class Archive>
  void serialize(Archive& ar) {
    ar(atoms, first_forces, inboxes, round, step, steps, sums_every, migrates, keeps_forces, work_ns, moved, neighbours,
       forces, potentials, pieces, pieces_left, pieces_end_ns);
  }

  /// The packets for each direction: atoms that have left the cell, which are taken out, or copies of those that are
  /// within the cut-off of the neighbour. Positions are from the corner of the receiver's cell.
  [[nodiscard]] std::array<std::vector<atom_packet>, directions> packets_for_neighbours();
  void take_whole(const std::vector<atom_packet>& packets);
  void begin_forces();
  /// Adds the forces on each atom of a piece. Returns the number of pairs within the cut-off.
  std::uint64_t add_forces(std::uint32_t piece);
  void kick(double time);
  void drift(double time);
  [[nodiscard]] atom_sums sums() const;
};

}  // namespace emulate
