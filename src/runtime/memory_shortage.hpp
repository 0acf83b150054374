// SPDX-License-Identifier: Apache-2.0
// Tells the user when simulated ranks have run out of memory.
#pragma once

#include <cstdint>

namespace nacre {

/// Writes one line on stderr and ends the process with code 1. Takes no memory itself.
[[noreturn]] void end_for_want_of_memory(std::uint32_t ranks) noexcept;

/// While an object of this class lives, a std::bad_alloc that cannot be caught ends the process by
/// end_for_want_of_memory, not by an abort. That concerns noexcept functions, and destructors while a std::bad_alloc
/// unwinds. Other calls of std::terminate act as before. Installs a new-handler, which notes failures, unless the
/// program has one. One at a time.
class memory_watch {
 public:
  explicit memory_watch(std::uint32_t ranks) noexcept;
  ~memory_watch();
  memory_watch(const memory_watch&) = delete;
  memory_watch& operator=(const memory_watch&) = delete;
};

}  // namespace nacre
