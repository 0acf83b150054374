// SPDX-License-Identifier: Apache-2.0
// The launcher's standard input, which belongs to rank 0.
#pragma once

#include <string>

#include "transport/net/socket.hpp"

namespace nacre::tool {

using transport::net::unique_fd;

/// Gives rank 0 something to read. A file or pipe is inherited, so that the launcher takes nothing from it that the
/// program does not want. A terminal cannot be: the rank leads a background process group, which the system stops when
/// it reads. So the launcher reads it and writes to a pipe; one that is in the background itself leaves the terminal
/// alone.
class standard_input {
 public:
  standard_input();

  /// What rank 0 is to inherit; -1 for nothing. Call `started` when it has it.
  [[nodiscard]] int for_rank_zero() const noexcept { return forwarding_ ? pipe_out_.get() : inherited_; }
  void started() { pipe_out_.reset(); }

  /// The terminal while its lines are wanted, otherwise -1: to be watched for reading.
  [[nodiscard]] int source() const noexcept { return forwarding_ && waiting_.empty() ? 0 : -1; }
  /// The pipe while something waits for it, otherwise -1: to be watched for writing.
  [[nodiscard]] int target() const noexcept { return forwarding_ && !waiting_.empty() ? pipe_in_.get() : -1; }
  /// Moves what can be moved now.
  void pump();

 private:
  int inherited_ = -1;
  bool forwarding_ = false;
  unique_fd pipe_in_;
  unique_fd pipe_out_;
  std::string waiting_;
};

}  // namespace nacre::tool
