// SPDX-License-Identifier: Apache-2.0
// Reading and writing the memory of another process of this host, where the kernel permits it.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include "join/net/socket.hpp"

namespace nacre::transport::shm {

/// Another process of this host. Its number may be that of a third one when it has ended, so what is done by the number
/// asks here first, or afterwards.
class process_handle {
 public:
  /// Of the process that has this number now.
  explicit process_handle(pid_t process) noexcept;
  /// Whether it has its number still. It may be stopped, or have ended without its parent's knowledge.
  [[nodiscard]] bool exists() const noexcept;

 private:
  pid_t process_;
  net::unique_fd descriptor_;  // empty on kernels before 5.3, where the number must do
};

/// Reads the memory of another process. True when all was read; otherwise errno says why not.
[[nodiscard]] bool read_memory(pid_t process, std::uint64_t address, std::byte* target, std::size_t bytes) noexcept;
/// Writes into the memory of another process. True when all was written; otherwise errno says why not.
[[nodiscard]] bool write_memory(pid_t process, std::uint64_t address, const std::byte* source,
                                std::size_t bytes) noexcept;
/// Whether this process may read and write the memory of the other one. Tries both on the `word` at `address` there.
[[nodiscard]] bool can_copy_directly(pid_t process, std::uint64_t address, std::uint64_t word) noexcept;

}  // namespace nacre::transport::shm
