// SPDX-License-Identifier: Apache-2.0
// Counts the bytes that a thread takes from operator new; for tests that forged bytes cannot exhaust memory.
#pragma once

#include <cstddef>

namespace nacre::test {

/// Measures the largest number of bytes that its thread has held at one time since the meter was made. Bytes that were
/// allocated before do not count. The hooks are in archive_bounds_test.cpp. A thread has at most one meter at a time.
class allocation_meter {
 public:
  allocation_meter();
  ~allocation_meter();
  allocation_meter(const allocation_meter&) = delete;
  allocation_meter& operator=(const allocation_meter&) = delete;

  [[nodiscard]] std::size_t peak_bytes() const;
};

}  // namespace nacre::test
