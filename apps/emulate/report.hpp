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
  /// The paper's emulation efficiency (section 5): ideal over actual emulation time, where a host worker has the power
  /// of an emulated thread. It says how fast the emulation is, not how well the program uses the machine.
  [[nodiscard]] double efficiency() const noexcept;
  /// The share of the virtual time of all threads that exist for which they ran handlers.
  [[nodiscard]] double busy_share() const;
};

[[nodiscard]] std::string text_of(const report& report);
[[nodiscard]] std::string json_of(const report& report);

/// A run beside that of a variant.
[[nodiscard]] std::string comparison_of(const report& first, const report& variant);
/// One object with both as `machines`, and what the variant takes for what the first one takes as `predicted_ratio`.
[[nodiscard]] std::string json_of(const report& first, const report& variant);

}  // namespace emulate
