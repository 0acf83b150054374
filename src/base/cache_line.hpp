// SPDX-License-Identifier: Apache-2.0
// The distance at which data of two threads no longer disturb each other.
#pragma once

#include <cstddef>

namespace nacre {

/// Bytes of a cache line on the processors we know; a constant, because the standard's one varies with compiler flags.
inline constexpr std::size_t cache_line_bytes = 64;

}  // namespace nacre
