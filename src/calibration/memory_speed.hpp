// SPDX-License-Identifier: Apache-2.0
// The speed at which one thread copies memory.
#pragma once

#include <cstddef>

namespace nacre::calibration {

/// Bytes a second of memcpy between two blocks of so many bytes, the fastest of some runs. Blocks that are larger than
/// the caches show the memory itself.
[[nodiscard]] double copy_bytes_per_second(std::size_t bytes);

}  // namespace nacre::calibration
