// SPDX-License-Identifier: Apache-2.0
// The time that an object takes to move, by its size.
#pragma once

#include <cstdint>

#include <nacre/nacre.hpp>

namespace nacre::calibration {

struct moves {
  double one_way_us, moves_a_second;
};
/// Objects of so many bytes, in a vector or a buffer, go back and forth between the two ranks of the job: one alone,
/// then, if they are small, many at once. The first moves `moves_max` times at most. On rank 0 the result, elsewhere
/// nothing.
[[nodiscard]] moves measure_moves(runtime& rt, std::uint32_t bytes, bool in_buffer, std::uint32_t moves_max = 40'000);

}  // namespace nacre::calibration
