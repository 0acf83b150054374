// SPDX-License-Identifier: Apache-2.0
// By how much a message was slower than the fastest one, although sender and receiver have different clocks.
#pragma once

#include <algorithm>
#include <map>

#include "backplane/flow/flow_message.hpp"

namespace nacre::flow {

/// Times of flight from other ranks. The difference of the receiver's and the sender's clock is that of the clocks and
/// the flight; its minimum belongs to the fastest flight. Clocks may drift apart by 100 millionths.
class flight_times {
 public:
  /// Returns by how much a message was slower than the fastest one from the same rank. It was sent at `sent`, on the
  /// clock of its sender. Subtract the result from a delay that the message announces. Else a slow message postpones
  /// its sender's plan, and the link idles.
  [[nodiscard]] nanoseconds held_up(rank_id source, nanoseconds sent, nanoseconds now) {
    const nanoseconds took = now - sent;
    const auto [entry, first] = distances_.try_emplace(source, distance{took, now});
    if (first) return nanoseconds(0);
    distance& known = entry->second;
    known.least = std::min(took, known.least + (now - known.time) / 10'000);
    known.time = now;
    return took - known.least;
  }

 private:
  struct distance {
    nanoseconds least, time;
  };
  std::map<rank_id, distance> distances_;
};

}  // namespace nacre::flow
