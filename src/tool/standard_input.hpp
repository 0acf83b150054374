// SPDX-License-Identifier: Apache-2.0
// The launcher's standard input, which belongs to rank 0.
#pragma once

#include <string>

#include "join/net/socket.hpp"

namespace nacre::tool {

using net::unique_fd;

/// Gives rank 0 the launcher's standard input. Rank 0 inherits a file or a pipe, so the launcher reads nothing from it
/// that the program does not want. Rank 0 cannot inherit a terminal: it leads a background process group, which the
/// kernel stops when it reads. So the launcher reads the terminal and writes to a pipe. While the launcher is in the
/// background itself, it does not read the terminal.
class standard_input {
 public:
  standard_input();

  /// The descriptor that rank 0 inherits; -1 for none. Call `started` when rank 0 has it.
  [[nodiscard]] int for_rank_zero() const noexcept { return forwarding_ ? pipe_out_.get() : inherited_; }
  void started() { pipe_out_.reset(); }

  /// Poll it for reading: the terminal while its lines are wanted, otherwise -1.
  [[nodiscard]] int source() const noexcept { return forwarding_ && waiting_.empty() && in_foreground() ? 0 : -1; }
  /// Poll it for writing: the pipe while bytes wait for it, otherwise -1.
  [[nodiscard]] int target() const noexcept { return forwarding_ && !waiting_.empty() ? pipe_in_.get() : -1; }
  /// Moves bytes from the terminal to the pipe, without blocking.
  void pump();

 private:
  /// Whether the terminal is this process group's to read.
  [[nodiscard]] static bool in_foreground() noexcept;

  int inherited_ = -1;
  bool forwarding_ = false;
  unique_fd pipe_in_;
  unique_fd pipe_out_;
  std::string waiting_;
};

}  // namespace nacre::tool
