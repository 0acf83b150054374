// SPDX-License-Identifier: Apache-2.0
// Reading and writing the memory of another process of this host, where the kernel permits it.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace nacre::transport::shm {

/// Reads the memory of another process. True when all was read; otherwise errno says why not.
[[nodiscard]] bool read_memory(pid_t process, std::uint64_t address, std::byte* to, std::size_t bytes) noexcept;
/// Writes into the memory of another process. True when all was written; otherwise errno says why not.
[[nodiscard]] bool write_memory(pid_t process, std::uint64_t address, const std::byte* from,
                                std::size_t bytes) noexcept;
/// Whether this process may read and write the memory of the other one. Tries both on the `word` at `address` there.
[[nodiscard]] bool can_copy_directly(pid_t process, std::uint64_t address, std::uint64_t word) noexcept;

}  // namespace nacre::transport::shm
