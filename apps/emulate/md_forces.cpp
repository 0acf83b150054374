// SPDX-License-Identifier: Apache-2.0
// Places the atoms, and sums their forces directly.
#include "md_forces.hpp"

#include "tree_reduction.hpp"

namespace emulate {

std::vector<atom> first_atoms(const nacre::coordinates& place, const nacre::coordinates& grid) {
  constexpr double displacement = 0.05, speed = 0.2;
  const std::int64_t node = place.x + std::int64_t{grid.x} * (place.y + std::int64_t{grid.y} * place.z);
  std::vector<atom> atoms(atoms_of_cell);
  for (std::uint32_t site = 0; site < atoms_of_cell; ++site) {
    atom& one = atoms[site];
    one.id = static_cast<std::uint32_t>(node) * atoms_of_cell + site;
    one.charge = ((site ^ site >> 1 ^ site >> 2) & 1) == 0 ? 1 : -1;
    for (std::uint32_t axis = 0; axis < 3; ++axis) {
      one.position[axis] = (site >> axis & 1) * (cell_side / 2) + displacement * (2 * mixed_unit(one.id, axis) - 1);
      // Atoms are paired; the two of a pair fly in opposite directions.
      const double v = speed * (2 * mixed_unit(one.id / 2, 3 + axis) - 1);
      one.velocity[axis] = site % 2 == 0 ? v : -v;
    }
  }
  return atoms;
}

std::vector<force_on> direct_forces(const nacre::coordinates& grid) {
  std::vector<atom> atoms;
  for (std::int32_t z = 0; z < grid.z; ++z) {
    for (std::int32_t y = 0; y < grid.y; ++y) {
      for (std::int32_t x = 0; x < grid.x; ++x) {
        for (atom one : first_atoms({x, y, z}, grid)) {
          one.position[0] += x * cell_side;
          one.position[1] += y * cell_side;
          one.position[2] += z * cell_side;
          atoms.push_back(one);
        }
      }
    }
  }
  const vector3 box{grid.x * cell_side, grid.y * cell_side, grid.z * cell_side};
  std::vector<force_on> forces;
  double potential = 0;
  for (const atom& self : atoms) {
    force_on& sum = forces.emplace_back(force_on{self.id});
    for (const atom& other : atoms) {
      for (int image = 0; image < 27; ++image) {
        if (image == 13 && &other == &self) continue;
        const vector3 vector{other.position[0] + (image % 3 - 1) * box[0],
                             other.position[1] + (image / 3 % 3 - 1) * box[1],
                             other.position[2] + (image / 9 - 1) * box[2]};
        add_interaction(self.position, vector, self.charge * other.charge, sum.force, potential);
      }
    }
  }
  return forces;
}

}  // namespace emulate
