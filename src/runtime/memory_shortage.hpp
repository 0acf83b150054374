// SPDX-License-Identifier: Apache-2.0
// Tells the user when simulated ranks would need more memory than there is, or have run out of it.
#pragma once

#include <cstdint>
#include <optional>

namespace nacre {

/// The ranks of a simulation, all of which live in this process.
struct simulated_ranks {
  std::uint32_t count = 1;
  std::uint32_t workers = 1;  ///< of each
};

/// The bytes that the runtime takes for them at least, before their program takes any.
[[nodiscard]] std::uint64_t least_memory_of(const simulated_ranks& ranks) noexcept;

/// Throws setup_error, with both numbers, when that is more than `available` bytes. Nothing available: it is not known.
void expect_memory_for(const simulated_ranks& ranks, std::optional<std::uint64_t> available);

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
