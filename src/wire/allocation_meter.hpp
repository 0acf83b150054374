// SPDX-License-Identifier: Apache-2.0
// Counts what the calling thread takes from operator new; for tests that forged bytes cannot exhaust memory.
#pragma once

#include <cstddef>

namespace nacre::test {

/// The largest number of bytes that were allocated at one time while the meter lived, beyond those before. The hooks
/// are in archive_bounds_test.cpp. One meter a thread at a time.
class allocation_meter {
 public:
  allocation_meter();
  ~allocation_meter();
  allocation_meter(const allocation_meter&) = delete;
  allocation_meter& operator=(const allocation_meter&) = delete;

  [[nodiscard]] std::size_t peak_bytes() const;
};

}  // namespace nacre::test
