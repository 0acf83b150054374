// SPDX-License-Identifier: Apache-2.0
// The clock of benchmarks.
#pragma once

#include <chrono>

namespace bench {

/// Seconds of the steady clock.
[[nodiscard]] inline double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace bench
