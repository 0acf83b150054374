// SPDX-License-Identifier: Apache-2.0
// A stack for the signal handlers of a thread, so that they can run when its own stack is used up.
#pragma once

namespace nacre {

/// While an object of this class lives, the handlers of signals of its thread that ask for it (SA_ONSTACK) have a stack
/// of their own. A thread that has one already, from a sanitizer or the program, keeps that. Without memory there is
/// none. To be destroyed by the thread that made it.
class signal_stack {
 public:
  signal_stack() noexcept;
  signal_stack(const signal_stack&) = delete;
  signal_stack& operator=(const signal_stack&) = delete;
  ~signal_stack();

 private:
  void* memory_ = nullptr;  // null: none of its own
};

}  // namespace nacre
