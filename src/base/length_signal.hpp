// SPDX-License-Identifier: Apache-2.0
// The limit of a process on the length of files (ulimit -f) as an error of write.
#pragma once

#include <csignal>

namespace nacre {

/// While it lives, a write of this thread that meets the limit fails with EFBIG; the signal (SIGXFSZ) kills nobody.
class length_signal {
 public:
  length_signal() noexcept;
  length_signal(const length_signal&) = delete;
  length_signal& operator=(const length_signal&) = delete;
  ~length_signal();

  /// Call it after a write that has failed with EFBIG.
  void take() const noexcept;

 private:
  ::sigset_t blocked_{}, before_{};
};

}  // namespace nacre
