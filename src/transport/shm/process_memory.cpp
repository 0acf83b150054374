// SPDX-License-Identifier: Apache-2.0
// Reading and writing the memory of another process by one system call each.
#include "transport/shm/process_memory.hpp"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>

namespace nacre::transport::shm {

process_handle::process_handle(pid_t process) noexcept
    : process_(process), descriptor_(static_cast<int>(::syscall(SYS_pidfd_open, process, 0))) {}

bool process_handle::exists() const noexcept {
  const bool is_found =
      descriptor_ ? ::syscall(SYS_pidfd_send_signal, descriptor_.get(), 0, nullptr, 0) == 0 : ::kill(process_, 0) == 0;
  return is_found || errno != ESRCH;
}

bool read_memory(pid_t process, std::uint64_t address, std::byte* target, std::size_t bytes) noexcept {
  while (bytes > 0) {
    const iovec local{.iov_base = target, .iov_len = bytes};
    const iovec remote{.iov_base = reinterpret_cast<void*>(address), .iov_len = bytes};
    const ssize_t got = ::process_vm_readv(process, &local, 1, &remote, 1, 0);
    if (got == 0) errno = EFAULT;
    if (got <= 0) return false;
    target += got;
    address += static_cast<std::uint64_t>(got);
    bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

bool write_memory(pid_t process, std::uint64_t address, const std::byte* source, std::size_t bytes) noexcept {
  while (bytes > 0) {
    const iovec local{.iov_base = const_cast<std::byte*>(source), .iov_len = bytes};
    const iovec remote{.iov_base = reinterpret_cast<void*>(address), .iov_len = bytes};
    const ssize_t put = ::process_vm_writev(process, &local, 1, &remote, 1, 0);
    if (put == 0) errno = EFAULT;
    if (put <= 0) return false;
    source += put;
    address += static_cast<std::uint64_t>(put);
    bytes -= static_cast<std::size_t>(put);
  }
  return true;
}

bool can_copy_directly(pid_t process, std::uint64_t address, std::uint64_t word) noexcept {
  std::uint64_t seen = 0;
  auto* const bytes = reinterpret_cast<std::byte*>(&seen);
  return read_memory(process, address, bytes, sizeof seen) && seen == word &&
         write_memory(process, address, bytes, sizeof seen);
}

}  // namespace nacre::transport::shm
