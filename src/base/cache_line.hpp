// SPDX-License-Identifier: Apache-2.0
// The size of a cache line: data of two threads that lie this far apart do not share one.
#pragma once

#include <cstddef>

namespace nacre {

/// Bytes of a cache line on the supported processors. A constant of our own, because the standard's value varies with
/// compiler flags.
inline constexpr std::size_t cache_line_bytes = 64;

}  // namespace nacre
