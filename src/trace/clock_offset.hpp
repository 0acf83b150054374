// SPDX-License-Identifier: Apache-2.0
// Estimates by how much the clock of another host is ahead.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace nacre::trace {

/// Estimates the offset from questions and answers. Invariant: the true offset lies within the bounds of every
/// exchange, however unequal the ways there and back are. It does because the other host reads its clock after the
/// question left and before the answer came. The quicker an exchange, the closer its bounds. Meant for a series that is
/// over before the clocks have drifted apart. All times are in nanoseconds. Sources: F. Cristian, Probabilistic clock
/// synchronization, Distributed Computing 3 (1989); K. Marzullo and S. Owicki, Maintaining the time in a distributed
/// system, PODC 1983.
class clock_offset {
 public:
  /// Adds an exchange: our clock when the question left and when the answer came, and the other clock between the two.
  void note(std::int64_t asked, std::int64_t present_count, std::int64_t answered) noexcept {
    least_ = std::max(least_, present_count - answered);
    most_ = std::min(most_, present_count - asked);
  }
  /// By how much the other clock is ahead of ours. Needs at least one exchange.
  [[nodiscard]] std::int64_t ahead() const noexcept { return least_ + (most_ - least_) / 2; }
  /// By how much ahead() may be wrong.
  [[nodiscard]] std::int64_t error() const noexcept { return (std::max(most_ - least_, least_ - most_) + 1) / 2; }

 private:
  std::int64_t least_ = std::numeric_limits<std::int64_t>::min();
  std::int64_t most_ = std::numeric_limits<std::int64_t>::max();
};

}  // namespace nacre::trace
