// SPDX-License-Identifier: Apache-2.0
// Ways through a fat tree, and the time that a link's bandwidth adds.
#include "emulator/travel_times.hpp"

#include <cmath>

namespace nacre::emulator {

travel_times::travel_times(const emulated_machine& machine)
    : grid_(machine.grid),
      topology_(machine.topology),
      rule_(machine.turns),
      ports_(machine.switch_ports),
      hop_(machine.hop.count()),
      turn_(machine.turn.count()),
      transfer_(machine.bandwidth > 0
                    ? static_cast<virtual_time>(std::ceil(machine.packet_bytes * 1e9 / machine.bandwidth))
                    : 0) {}

route travel_times::tree_route(const coordinates& from, const coordinates& to) const noexcept {
  const auto number = [this](const coordinates& at) {
    return static_cast<std::uint32_t>(at.x + grid_.x * (at.y + grid_.y * at.z));
  };
  std::uint32_t levels = 0;
  for (std::uint32_t a = number(from), b = number(to); a != b; ++levels) {
    a /= ports_;
    b /= ports_;
  }
  // A packet climbs to the lowest switch above both nodes, turns there, and descends.
  return {levels == 0 ? 0 : 2 * levels - 1, levels == 0 ? 0u : 1u};
}

}  // namespace nacre::emulator
