// SPDX-License-Identifier: Apache-2.0
// One measurement of messages of one size.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace nacre::calibration {

/// One measurement of a rung of the ladder at one size.
struct sample {
  std::size_t bytes = 0;
  double round_trip_seconds = 0;  ///< 0: not measured
  double one_way_seconds = 0;     ///< of a message in a stream; 0: not measured
};

/// Takes the shorter times of two runs over the same sizes.
inline void take_shorter(std::vector<sample>& samples, const std::vector<sample>& other) {
  if (samples.empty()) samples = other;
  for (std::size_t n = 0; n < std::min(samples.size(), other.size()); ++n) {
    samples[n].round_trip_seconds = std::min(samples[n].round_trip_seconds, other[n].round_trip_seconds);
    samples[n].one_way_seconds = std::min(samples[n].one_way_seconds, other[n].one_way_seconds);
  }
}

}  // namespace nacre::calibration
