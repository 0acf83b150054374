// SPDX-License-Identifier: Apache-2.0
// Numbers by the mixing function of splitmix64.
#include "random_state.hpp"

namespace waves {
namespace {

std::uint64_t mixed(std::uint64_t state) {
  state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9u;
  state = (state ^ (state >> 27)) * 0x94d049bb133111ebu;
  return state ^ (state >> 31);
}

}  // namespace

void set_random_state(rows& field, const sweep_domain& domain, std::uint64_t seed) {
  const patch_box& box = domain.box;
  for (int z = -halo; z < box.nz + halo; ++z) {
    for (int y = -halo; y < box.ny + halo; ++y) {
      const int gy = box.y + y, gz = box.z + z;
      if (gy < 0 || gz < 0 || gy >= domain.grid->y.count() || gz >= domain.grid->z.count()) continue;
      for (int number = 0; number < 3; ++number) {
        const std::uint64_t row =
            mixed(mixed(seed + static_cast<std::uint64_t>(number)) + static_cast<std::uint64_t>(gz));
        double* target = field.at(number, y, z);
        for (int x = 0; x < box.nx; ++x) {
          const std::uint64_t bits = mixed(mixed(row + static_cast<std::uint64_t>(gy)) + static_cast<std::uint64_t>(x));
          target[x] = static_cast<double>(bits >> 11) * 0x1p-52 - 1;
        }
      }
    }
  }
}

}  // namespace waves
