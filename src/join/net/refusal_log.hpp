// SPDX-License-Identifier: Apache-2.0
// Logs refused connections, at a limited rate, so that strangers cannot fill the log.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "join/net/socket_handshake.hpp"

namespace nacre::net {

/// Takes one line without its end.
using line_sink = std::function<void(std::string_view)>;

/// Writes the line to standard error in one piece.
void write_error_line(std::string_view line);

/// At most `burst` lines at once, then one each `interval`; lines left out are counted, and the next line tells the
/// count.
class refusal_log {
 public:
  static constexpr std::uint32_t burst = 8;
  static constexpr std::chrono::seconds interval{1};

  /// Lines begin with `speaker`, for example "nacre: rank 2".
  explicit refusal_log(std::string speaker, line_sink sink = write_error_line);

  void write(std::string_view line, time_point now);

 private:
  std::string speaker_;
  line_sink sink_;
  std::uint32_t left_ = burst;
  std::uint64_t suppressed_ = 0;
  time_point refilled_{};
};

}  // namespace nacre::net
