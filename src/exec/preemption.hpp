// SPDX-License-Identifier: Apache-2.0
// Tells a long handler from one that had lost its processor.
#pragma once

#include <utility>

namespace nacre {

/// The kernel counts how often a thread has lost its processor to others. One thread at a time; where threads change,
/// the first answer is of no use.
class preemption_watch {
 public:
  /// Whether the calling thread has lost its processor since it last asked. A system call.
  [[nodiscard]] bool lost_processor() noexcept {
    const long now = times_lost();
    return std::exchange(seen_, now) != now;
  }

 private:
  [[nodiscard]] static long times_lost() noexcept;
  long seen_ = 0;
};

}  // namespace nacre
