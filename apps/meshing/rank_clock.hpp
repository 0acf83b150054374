// SPDX-License-Identifier: Apache-2.0
// The time that a rank has spent on refinement.
#pragma once

#include <atomic>
#include <cstdint>

namespace meshing {

/// Subdomains of the rank add to it, on any of its threads.
class rank_clock {
 public:
  void add(double seconds) noexcept { nanoseconds_ += static_cast<std::uint64_t>(seconds * 1e9); }
  [[nodiscard]] double seconds() const noexcept { return static_cast<double>(nanoseconds_.load()) * 1e-9; }

 private:
  std::atomic<std::uint64_t> nanoseconds_{0};
};

}  // namespace meshing
