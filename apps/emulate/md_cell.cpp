// SPDX-License-Identifier: Apache-2.0
// What a cell does with its atoms and those around it; all sums are in an order that no arrival changes.
#include "md_cell.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <utility>

namespace emulate {

void atom_packet::add_position(const vector3& vector, std::int32_t charge) noexcept {
  const std::uint32_t k = atoms();
  std::copy(vector.begin(), vector.end(), words.begin() + 3 * k);
  atoms_and_signs = static_cast<std::uint8_t>((atoms_and_signs + 1u) | (charge < 0 ? 8u << k : 0u));
}

void atom_packet::add_whole(const atom& one) noexcept {
  double* const target = words.data() + 7 * atoms();
  std::copy(one.position.begin(), one.position.end(), target);
  std::copy(one.velocity.begin(), one.velocity.end(), target + 3);
  // An integer in a double's place: a number below 2^53 stays what it is.
  target[6] = 2.0 * one.id + (one.charge < 0 ? 1 : 0);
  ++atoms_and_signs;
}

atom atom_packet::whole(std::uint32_t k) const noexcept {
  const double* const source = words.data() + 7 * k;
  const auto id_and_sign = static_cast<std::uint64_t>(source[6]);
  return {{source[0], source[1], source[2]},
          {source[3], source[4], source[5]},
          static_cast<std::uint32_t>(id_and_sign / 2),
          id_and_sign % 2 == 0 ? 1 : -1};
}

void inbox::take(const atom_packet& packet) {
  packets.push_back(packet);
  if (++seen[packet.direction] == packet.parts) ++complete;
}

std::vector<atom_packet> inbox::release() {
  seen = {};
  complete = 0;
  std::vector<atom_packet> all = std::exchange(packets, {});
  std::sort(all.begin(), all.end(), [](const atom_packet& a, const atom_packet& b) {
    return std::pair(a.direction, a.part) < std::pair(b.direction, b.part);
  });
  return all;
}

void atom_sums::add(const atom_sums& other) noexcept {
  kinetic += other.kinetic;
  potential += other.potential;
  for (std::size_t axis = 0; axis < 3; ++axis) momentum[axis] += other.momentum[axis];
  moved += other.moved;
}

namespace {

/// The direction in which an atom has left its cell; the middle if it has not.
std::uint32_t direction_of(const vector3& vector) {
  std::uint32_t direction = 0;
  for (std::uint32_t axis = 3; axis-- > 0;) {
    if (!(vector[axis] >= -cell_side && vector[axis] < 2 * cell_side)) {
      throw std::runtime_error("an atom has flown farther than a cell: the dynamics are not stable");
    }
    direction = 3 * direction + (vector[axis] < 0 ? 0 : vector[axis] < cell_side ? 1 : 2);
  }
  return direction;
}

/// Whether an atom of the neighbour may be within the cut-off: it may be outside of its own cell by half the skin.
bool is_near(const vector3& vector, std::uint32_t direction) noexcept {
  double squared = 0;
  for (std::uint32_t axis = 0; axis < 3; ++axis) {
    const std::int32_t d = along(direction, axis);
    const double outside = d < 0   ? vector[axis]
                           : d > 0 ? cell_side - vector[axis]
                                   : std::max(-vector[axis], vector[axis] - cell_side);
    const double gap = std::max(outside - skin / 2, 0.0);
    squared += gap * gap;
  }
  return squared < cut_off * cut_off;
}

vector3 as_seen_from(std::uint32_t direction, const vector3& vector) noexcept {
  return {vector[0] - along(direction, 0) * cell_side, vector[1] - along(direction, 1) * cell_side,
          vector[2] - along(direction, 2) * cell_side};
}

/// Room for one more atom in the packets of a direction.
atom_packet& room_in(std::vector<atom_packet>& packets, std::size_t atoms_max) {
  if (packets.back().atoms() == atoms_max) packets.emplace_back();
  return packets.back();
}

}  // namespace

std::array<std::vector<atom_packet>, directions> md_cell::packets_for_neighbours() {
  std::array<std::vector<atom_packet>, directions> all;
  for (auto& packets : all) packets.resize(1);
  std::size_t kept = 0;
  for (atom& one : atoms) {
    if (migrates) {
      const std::uint32_t target = direction_of(one.position);
      if (target == middle) {
        atoms[kept++] = one;
        continue;
      }
      ++moved;
      one.position = as_seen_from(target, one.position);
      room_in(all[target], atom_packet::whole_max).add_whole(one);
      continue;
    }
    for (const double x : one.position) {
      if (x >= -skin / 2 && x <= cell_side + skin / 2) continue;
      throw std::runtime_error("an atom has left its cell by more than half the skin before it could change cells");
    }
    for (std::uint32_t target = 0; target < directions; ++target) {
      if (target == middle || !is_near(one.position, target)) continue;
      room_in(all[target], atom_packet::positions_max).add_position(as_seen_from(target, one.position), one.charge);
    }
  }
  if (migrates) atoms.resize(kept);
  for (std::uint32_t target = 0; target < directions; ++target) {
    if (all[target].size() > 255) throw std::runtime_error("a cell holds more atoms than packets can number");
    for (std::size_t part = 0; part < all[target].size(); ++part) {
      all[target][part].round = round;
      all[target][part].direction = static_cast<std::uint8_t>(directions - 1 - target);
      all[target][part].part = static_cast<std::uint8_t>(part);
      all[target][part].parts = static_cast<std::uint8_t>(all[target].size());
    }
  }
  return all;
}

void md_cell::take_whole(const std::vector<atom_packet>& packets) {
  for (const atom_packet& packet : packets) {
    for (std::uint32_t k = 0; k < packet.atoms(); ++k) atoms.push_back(packet.whole(k));
  }
  std::sort(atoms.begin(), atoms.end(), [](const atom& a, const atom& b) { return a.id < b.id; });
}

void md_cell::begin_forces() {
  forces.assign(atoms.size(), {});
  potentials.assign(atoms.size(), 0);
}

/// The same sums for any number of pieces: an atom's are in one of them.
std::uint64_t md_cell::add_forces(std::uint32_t piece) {
  std::uint64_t pairs = 0;
  for (std::size_t i = piece; i < atoms.size(); i += pieces) {
    const vector3& vector = atoms[i].position;
    for (std::size_t j = 0; j < atoms.size(); ++j) {
      if (i == j) continue;
      pairs += add_interaction(vector, atoms[j].position, atoms[i].charge * atoms[j].charge, forces[i], potentials[i]);
    }
    for (const atom_packet& packet : neighbours) {
      for (std::uint32_t k = 0; k < packet.atoms(); ++k) {
        pairs +=
            add_interaction(vector, packet.position(k), atoms[i].charge * packet.charge(k), forces[i], potentials[i]);
      }
    }
  }
  return pairs;
}

void md_cell::kick(double time) {
  for (std::size_t i = 0; i < atoms.size(); ++i) {
    for (std::size_t axis = 0; axis < 3; ++axis) atoms[i].velocity[axis] += forces[i][axis] * time;
  }
}

void md_cell::drift(double time) {
  for (atom& one : atoms) {
    for (std::size_t axis = 0; axis < 3; ++axis) one.position[axis] += one.velocity[axis] * time;
  }
}

atom_sums md_cell::sums() const {
  atom_sums all{.moved = moved};
  for (const double potential : potentials) all.potential += potential;
  for (const atom& one : atoms) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      all.kinetic += 0.5 * one.velocity[axis] * one.velocity[axis];
      all.momentum[axis] += one.velocity[axis];
    }
  }
  return all;
}

}  // namespace emulate
