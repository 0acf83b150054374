// SPDX-License-Identifier: Apache-2.0
// Read access to the directory for the length of a scope.
#pragma once

#include "exec/thread_context.hpp"

namespace nacre {

/// Lets the application's thread read the directory for one operation; workers are readers all the time. Scopes may
/// nest: user code called within an operation may begin another operation.
class epoch_guard {
 public:
  explicit epoch_guard(thread_context& thread)
      : thread_(thread.role() == thread_role::application && !thread.reader().is_online() ? &thread : nullptr) {
    if (thread_ != nullptr) thread_->reader().online();
  }
  epoch_guard(const epoch_guard&) = delete;
  epoch_guard& operator=(const epoch_guard&) = delete;
  ~epoch_guard() {
    if (thread_ != nullptr) thread_->reader().offline();
  }

 private:
  thread_context* thread_;
};

}  // namespace nacre
