// SPDX-License-Identifier: Apache-2.0
// What becomes of a process that calls exit while ranks of a job live in it.
#pragma once

namespace nacre {

/// While one lives, `std::exit` ends this process with a line on stderr and a code that is not 0, namely that of exit
/// or else 1, before it destroys what other threads of the process use. Children that the process has forked are left
/// alone. Any thread; several may live at a time. `std::_Exit` and `std::quick_exit` end the process as always.
class early_exit {
 public:
  early_exit() noexcept;
  early_exit(const early_exit&) = delete;
  early_exit& operator=(const early_exit&) = delete;
  ~early_exit();
};

}  // namespace nacre
