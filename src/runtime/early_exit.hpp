// SPDX-License-Identifier: Apache-2.0
// Ends a process safely that calls exit while ranks of a job live in it.
#pragma once

namespace nacre {

/// While an object of this class lives, `std::exit` ends the process before it destroys objects that other threads of
/// the process use. It prints a line on stderr; the exit code is that of the call (of the first, if several threads
/// call at once), or 1 if that is 0. `std::_Exit` and `std::quick_exit` are not affected. A process that is forked
/// meanwhile is a forked child (base/forked_child.hpp); there `std::exit` prints no line, and keeps the code. Any
/// thread; several may live at a time.
class early_exit {
 public:
  early_exit() noexcept;
  early_exit(const early_exit&) = delete;
  early_exit& operator=(const early_exit&) = delete;
  ~early_exit();

  /// The work of a job is not done: a process that ends with 0 all the same ends with this code, until another job
  /// begins.
  static void owe(int code) noexcept;
};

}  // namespace nacre
