// SPDX-License-Identifier: Apache-2.0
// Which sanitizer this build is for, by the words of either compiler, and how much less tests do then.
#pragma once

#include <cstdint>

// gcc defines __SANITIZE_ADDRESS__ and __SANITIZE_THREAD__; clang answers __has_feature.
#if !defined(__has_feature)
#define NACRE_DETAIL_HAS_FEATURE(name) 0
#else
#define NACRE_DETAIL_HAS_FEATURE(name) __has_feature(name)
#endif
#if defined(__SANITIZE_ADDRESS__) || NACRE_DETAIL_HAS_FEATURE(address_sanitizer)
#define NACRE_UNDER_ASAN 1
#else
#define NACRE_UNDER_ASAN 0
#endif
#if defined(__SANITIZE_THREAD__) || NACRE_DETAIL_HAS_FEATURE(thread_sanitizer)
#define NACRE_UNDER_TSAN 1
#else
#define NACRE_UNDER_TSAN 0
#endif

namespace nacre::tests {

inline constexpr bool thread_sanitized = NACRE_UNDER_TSAN != 0;
inline constexpr bool sanitized = thread_sanitized || NACRE_UNDER_ASAN != 0;

/// Rounds of a campaign that runs in one thread: all of them in a plain build, a tenth where a thread sanitizer makes
/// each twenty times slower and cannot find anything, a third under an address sanitizer. At least 1.
constexpr std::uint64_t rounds_in_one_thread(std::uint64_t rounds) {
  const std::uint64_t part = rounds / (thread_sanitized ? 10 : sanitized ? 3 : 1);
  return part == 0 ? 1 : part;
}

}  // namespace nacre::tests
