// SPDX-License-Identifier: Apache-2.0
// How much longer than others a message has taken, by two clocks that are not the same.
#pragma once

#include <algorithm>
#include <map>

#include "backplane/flow/flow_message.hpp"

namespace nacre::flow {

/// Times of flight from other ranks. The difference of the receiver's and the sender's clock is that of the clocks and
/// the flight; its minimum belongs to the fastest flight. Clocks may drift apart by 100 millionths.
class flight_times {
 public:
  /// Returns how much longer than the fastest one from the same rank a message has taken, which was sent at `sent` on
  /// the clock of its sender. A delay that counts from then is to be shortened by that: else slow messages move what
  /// they announce, and the link idles.
  [[nodiscard]] nanoseconds held_up(rank_id from, nanoseconds sent, nanoseconds now) {
    const nanoseconds took = now - sent;
    const auto [found, first] = distances_.try_emplace(from, distance{took, now});
    if (first) return nanoseconds(0);
    distance& known = found->second;
    known.least = std::min(took, known.least + (now - known.at) / 10'000);
    known.at = now;
    return took - known.least;
  }

 private:
  struct distance {
    nanoseconds least, at;
  };
  std::map<rank_id, distance> distances_;
};

}  // namespace nacre::flow
