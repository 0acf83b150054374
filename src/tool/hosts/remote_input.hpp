// SPDX-License-Identifier: Apache-2.0
// The launcher's standard input, on its way to rank 0 on another host.
#pragma once

#include <optional>
#include <string>

namespace nacre::tool {

/// Reads standard input one piece at a time: the next piece when rank 0 has taken the last one, so that few bytes are
/// held here. Reads nothing when this process is in the background of its terminal, where reading would stop it. One
/// thread.
class remote_input {
 public:
  remote_input() noexcept;

  /// Poll it for reading: standard input while a piece is wanted, otherwise -1.
  [[nodiscard]] int source() const noexcept { return open_ && wanted_ ? 0 : -1; }
  /// The next piece if one can be read now; an empty text at the end.
  [[nodiscard]] std::optional<std::string> read();
  /// Rank 0 has taken the last piece; `more`: it reads on.
  void taken(bool more) noexcept;

 private:
  bool open_;
  bool wanted_ = true;
};

}  // namespace nacre::tool
