// SPDX-License-Identifier: Apache-2.0
// The atoms of the molecular dynamics and the force between two of them, in units of a lattice of unit charges.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include <nacre/emulator.hpp>

namespace emulate {

using vector3 = std::array<double, 3>;

/// A node's cell is a cube of two lattice spacings. Atoms change cells only every few steps; until then they may be
/// outside of their cell by half the skin. So atoms within the cut-off are always in neighbouring cells.
inline constexpr double cell_side = 2;
inline constexpr double skin = 0.2;
inline constexpr double cut_off = cell_side - skin;
inline constexpr std::uint32_t atoms_of_cell = 8;  ///< at the beginning

/// An atom of mass 1.
struct atom {
  vector3 position{};  ///< from the corner of its cell
  vector3 velocity{};
  std::uint32_t id = 0;
  std::int32_t charge = 0;  ///< 1 or -1
};
static_assert(sizeof(atom) == 56);

/// The interaction of two atoms at one distance.
struct interaction {
  double potential = 0;
  double force_over_distance = 0;  ///< positive: they repel each other
};

/// Electrostatics and a repulsion with the twelfth power of the distance, whose strength keeps the lattice at its
/// spacing. Both are shifted so that potential and force are 0 at the cut-off, else the energy would jump there.
[[nodiscard]] inline interaction interaction_of(double distance_squared, double charges) noexcept {
  constexpr double strength = 0.0172;
  constexpr double rc = cut_off;
  constexpr double rc6 = rc * rc * rc * rc * rc * rc;
  constexpr double repulsion_rc = strength / (rc6 * rc6);
  const double r = std::sqrt(distance_squared);
  const double inverse = 1 / r;
  const double inverse2 = inverse * inverse;
  const double inverse6 = inverse2 * inverse2 * inverse2;
  const double repulsion = strength * inverse6 * inverse6;
  const double beyond = r - rc;
  return {
      charges * (inverse - 1 / rc + beyond / (rc * rc)) + repulsion - repulsion_rc + 12 * repulsion_rc / rc * beyond,
      (charges * (inverse2 - 1 / (rc * rc)) + 12 * (repulsion * inverse - repulsion_rc / rc)) * inverse};
}

/// Adds the force of another atom at `other` to `force` and half of the potential to `potential`. Returns whether the
/// other one is within the cut-off.
inline bool add_interaction(const vector3& vector, const vector3& other, double charges, vector3& force,
                            double& potential) noexcept {
  const double x = vector[0] - other[0], y = vector[1] - other[1], z = vector[2] - other[2];
  const double squared = x * x + y * y + z * z;
  if (squared >= cut_off * cut_off) return false;
  const interaction both = interaction_of(squared, charges);
  force[0] += both.force_over_distance * x;
  force[1] += both.force_over_distance * y;
  force[2] += both.force_over_distance * z;
  potential += 0.5 * both.potential;
  return true;
}

/// The atoms of a node's cell at the beginning: those of a rock-salt lattice, each a little off its place, with random
/// velocities whose sum is 0. They are not sorted into cells: some are outside.
[[nodiscard]] std::vector<atom> first_atoms(const nacre::coordinates& place, const nacre::coordinates& grid);

/// The force on an atom.
struct force_on {
  std::uint64_t id = 0;
  vector3 force{};
};

/// The forces on all atoms at the beginning by a sum over all pairs and their images, in the order of their ids.
[[nodiscard]] std::vector<force_on> direct_forces(const nacre::coordinates& grid);

}  // namespace emulate
