// SPDX-License-Identifier: Apache-2.0
// Binding of the calling thread to processors.
#pragma once

#include "exec/placement.hpp"

namespace nacre {

/// The processors that the calling thread may run on. Empty when the system does not tell.
[[nodiscard]] processor_list processors_of_this_thread();
/// Lets the calling thread, and threads that it starts from now on, run on these processors only. Nothing for an empty
/// list. False when the system refuses; the thread then runs where it could before.
bool bind_this_thread(const processor_list& list) noexcept;

/// Binds the calling thread for a scope.
class bound_scope {
 public:
  explicit bound_scope(const processor_list& list) {
    if (list.empty()) return;
    previous_ = processors_of_this_thread();
    bind_this_thread(list);
  }
  bound_scope(const bound_scope&) = delete;
  bound_scope& operator=(const bound_scope&) = delete;
  ~bound_scope() { bind_this_thread(previous_); }

 private:
  processor_list previous_;
};

}  // namespace nacre
