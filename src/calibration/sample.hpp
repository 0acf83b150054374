// SPDX-License-Identifier: Apache-2.0
// One measurement of messages of one size.
#pragma once

#include <cstddef>

namespace nacre::calibration {

/// One measurement of a rung of the ladder at one size.
struct sample {
  std::size_t bytes = 0;
  double round_trip_seconds = 0;  ///< 0: not measured
  double one_way_seconds = 0;     ///< of a message in a stream; 0: not measured
};

}  // namespace nacre::calibration
