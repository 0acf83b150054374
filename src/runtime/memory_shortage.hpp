// SPDX-License-Identifier: Apache-2.0
// What to tell a user whose simulated ranks find no more memory.
#pragma once

#include <cstdint>

namespace nacre {

/// Writes one line on stderr and ends the process with code 1. Takes no memory itself.
[[noreturn]] void end_for_want_of_memory(std::uint32_t ranks) noexcept;

/// As long as it lives, want of memory where nobody can catch it ends the process as above, not by an abort: in a
/// function that must not throw, or in a destructor while a std::bad_alloc unwinds. Other reasons to terminate are what
/// they were. Notes by a new-handler that memory was missed, unless the program has one of its own. One at a time.
class memory_watch {
 public:
  explicit memory_watch(std::uint32_t ranks) noexcept;
  ~memory_watch();
  memory_watch(const memory_watch&) = delete;
  memory_watch& operator=(const memory_watch&) = delete;
};

}  // namespace nacre
