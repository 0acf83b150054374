// SPDX-License-Identifier: Apache-2.0
// How far the clock of another host is ahead.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace nacre::trace {

/// Estimates by questions and answers. The other has read its clock after the question left and before the answer came,
/// so each exchange bounds the difference, the quicker the closer, and the truth lies within all bounds, however
/// unequal the ways there and back are. F. Cristian, Probabilistic clock synchronization, Distributed Computing 3
/// (1989); K. Marzullo and S. Owicki, Maintaining the time in a distributed system, PODC 1983. Meant for a series that
/// is over before the clocks have drifted apart. All in nanoseconds.
class clock_offset {
 public:
  /// The own clock when the question left and when the answer came, and what the other has read.
  void note(std::int64_t asked, std::int64_t there, std::int64_t answered) noexcept {
    least_ = std::max(least_, there - answered);
    most_ = std::min(most_, there - asked);
  }
  /// After one exchange at least: by how much the other clock is ahead of the own.
  [[nodiscard]] std::int64_t ahead() const noexcept { return least_ + (most_ - least_) / 2; }
  /// By how much that may be wrong.
  [[nodiscard]] std::int64_t error() const noexcept { return (std::max(most_ - least_, least_ - most_) + 1) / 2; }

 private:
  std::int64_t least_ = std::numeric_limits<std::int64_t>::min();
  std::int64_t most_ = std::numeric_limits<std::int64_t>::max();
};

}  // namespace nacre::trace
