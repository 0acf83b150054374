// SPDX-License-Identifier: Apache-2.0
// Whether this build is so slow that tests do less.
#pragma once

#include <cstdint>

namespace nacre::tests {

#if defined(__SANITIZE_THREAD__)
inline constexpr bool thread_sanitized = true;
#else
inline constexpr bool thread_sanitized = false;
#endif

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = thread_sanitized;
#endif

/// Rounds of a campaign that runs in one thread: all of them in a plain build, a tenth where a thread sanitizer makes
/// each twenty times slower and cannot find anything, a third under an address sanitizer. At least 1.
constexpr std::uint64_t rounds_in_one_thread(std::uint64_t rounds) {
  const std::uint64_t part = rounds / (thread_sanitized ? 10 : sanitized ? 3 : 1);
  return part == 0 ? 1 : part;
}

}  // namespace nacre::tests
