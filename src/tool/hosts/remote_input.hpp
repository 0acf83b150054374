// SPDX-License-Identifier: Apache-2.0
// The launcher's standard input, on its way to rank 0 on another host.
#pragma once

#include <optional>
#include <string>

namespace nacre::tool {

/// Reads a piece when the last one has been taken, so that little is held here, and nothing when this process is in the
/// background of its terminal, where reading would stop it. One thread.
class remote_input {
 public:
  remote_input() noexcept;

  /// Standard input while it is wanted, otherwise -1: to be watched for reading.
  [[nodiscard]] int source() const noexcept { return open_ && wanted_ ? 0 : -1; }
  /// The next piece if there is one now: nothing in it at the end.
  [[nodiscard]] std::optional<std::string> read();
  /// The last piece has arrived, and whether rank 0 reads on.
  void taken(bool more) noexcept;

 private:
  bool open_;
  bool wanted_ = true;
};

}  // namespace nacre::tool
