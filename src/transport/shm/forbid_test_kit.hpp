// SPDX-License-Identifier: Apache-2.0
// Lets the kernel refuse a system call, as in a container with a strict filter. For tests.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>

namespace nacre::transport::shm {

enum class filter_scope { this_thread, this_process };

/// From now on, for ever, the kernel does `action` at that call. Negative: it does not filter; else as in seccomp(2).
inline long filter(int system_call, unsigned action, unsigned flags) {
  std::array<sock_filter, 4> program{{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                                      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(system_call), 0, 1),
                                      BPF_STMT(BPF_RET | BPF_K, action), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)}};
  const sock_fprog all{program.size(), program.data()};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &all);
}

/// From now on, for ever, the call fails with EPERM. False when the kernel does not filter.
[[nodiscard]] inline bool forbid(int system_call, filter_scope filter_scope) {
  return filter(system_call, SECCOMP_RET_ERRNO | EPERM,
                filter_scope == filter_scope::this_process ? SECCOMP_FILTER_FLAG_TSYNC : 0) == 0;
}

}  // namespace nacre::transport::shm
