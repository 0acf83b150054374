// SPDX-License-Identifier: Apache-2.0
// The result of an emulation, for people and for programs.
#pragma once

#include <cstdint>
#include <string>

#include "options.hpp"

namespace emulate {

/// A result with all that is computed from it.
struct report {
  const options* asked;
  program_result result;
  std::uint32_t host_workers = 1;

  [[nodiscard]] double predicted_us() const noexcept;
  [[nodiscard]] double messages_per_second() const noexcept;
  [[nodiscard]] double bytes_per_thread() const noexcept;
  /// Wall time over predicted time (paper section 5).
  [[nodiscard]] double slowdown() const noexcept;
  /// Ideal over actual emulation time, where a host worker has the power of an emulated thread (paper section 5).
  [[nodiscard]] double efficiency() const noexcept;
};

[[nodiscard]] std::string text_of(const report& of);
[[nodiscard]] std::string json_of(const report& of);

}  // namespace emulate
