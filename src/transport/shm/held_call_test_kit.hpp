// SPDX-License-Identifier: Apache-2.0
// Lets the kernel hold a system call until the test lets it go on. For tests.
#pragma once

#include <poll.h>
#include <sys/ioctl.h>

#include <cstdint>

#include "join/net/socket.hpp"
#include "transport/shm/forbid_test_kit.hpp"

namespace nacre::transport::shm {

/// From the construction on, for ever, the kernel holds that system call of the constructing thread, or of the whole
/// process. A held call begins at `go_on`; after this has been destroyed it fails with ENOSYS. The thread that calls
/// wait_for_one must not be held itself.
class held_calls {
 public:
  held_calls(int system_call, filter_scope filter_scope) : listener_(hold(system_call, filter_scope)) {}

  /// False when the kernel cannot hold calls.
  [[nodiscard]] bool able() const noexcept { return static_cast<bool>(listener_); }

  /// Waits until a call is held. False after a minute, or when all threads that could make one have ended.
  [[nodiscard]] bool wait_for_one() {
    pollfd look{.fd = listener_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&look, 1, 60'000) != 1 || (look.revents & POLLIN) == 0) return false;
    seccomp_notif call{};
    if (::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_RECV, &call) != 0) return false;
    id_ = call.id;
    first_argument_ = call.data.args[0];
    return true;
  }
  /// The first argument of the held call.
  [[nodiscard]] std::uint64_t first_argument() const noexcept { return first_argument_; }

  /// Lets the held call begin.
  void go_on() {
    seccomp_notif_resp answer{.id = id_, .val = 0, .error = 0, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
    static_cast<void>(::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_SEND, &answer));
  }

 private:
  static net::unique_fd hold(int system_call, filter_scope filter_scope) {
    unsigned flags = SECCOMP_FILTER_FLAG_NEW_LISTENER;
    if (filter_scope == filter_scope::this_process)
      flags |= SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_TSYNC_ESRCH;
    return net::unique_fd(static_cast<int>(filter(system_call, SECCOMP_RET_USER_NOTIF, flags)));
  }

  net::unique_fd listener_;
  std::uint64_t id_ = 0;
  std::uint64_t first_argument_ = 0;
};

}  // namespace nacre::transport::shm
