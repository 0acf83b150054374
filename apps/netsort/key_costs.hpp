// SPDX-License-Identifier: Apache-2.0
// What keys cost where time is simulated: a constant, or what they take on this processor.
#pragma once

#include <cstdint>

namespace netsort {

/// Seconds for each key of a wire.
struct key_costs {
  double merge = 2e-9;  ///< of both wires that are merged
  double begin = 0;     ///< to make and to sort it

  template <class Archive>
  void serialize(Archive& ar) {
    ar(merge, begin);
  }
};

/// What this processor takes to sort by so many wires with so many keys on each, in one loop: the least of some runs
/// with 64 wires or fewer. Takes some milliseconds, or longer where keys are very many.
[[nodiscard]] key_costs measured_key_costs(std::uint32_t wires, std::uint32_t keys);

}  // namespace netsort
