// SPDX-License-Identifier: Apache-2.0
// Whether this build is so slow that tests do less.
#pragma once

namespace nacre::tests {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

}  // namespace nacre::tests
