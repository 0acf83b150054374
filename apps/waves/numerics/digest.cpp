// SPDX-License-Identifier: Apache-2.0
// Mixes the bits of rows.
#include "digest.hpp"

#include <bit>

namespace waves {

std::uint64_t digest_of(const subdomain& patch) {
  const patch_box& box = patch.box();
  std::uint64_t sum = 0;
  for (int z = 0; z < box.nz; ++z) {
    for (int y = 0; y < box.ny; ++y) {
      std::uint64_t state = static_cast<std::uint64_t>(box.y + y) << 32 | static_cast<std::uint64_t>(box.z + z);
      for (int number = 0; number < 3; ++number) {
        const double* row = patch.displacement().at(number, y, z);
        for (int x = 0; x < box.nx; ++x) {
          // A zero is the same with either sign, as comparisons have it.
          state = (state ^ std::bit_cast<std::uint64_t>(row[x] + 0.0)) * 0x9e3779b97f4a7c15u;
          state ^= state >> 29;
        }
      }
      sum += state;
    }
  }
  return sum;
}

}  // namespace waves
