// SPDX-License-Identifier: Apache-2.0
// Passes the output of many processes on, in whole lines.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "transport/net/socket.hpp"

namespace nacre::tool {

using transport::net::unique_fd;

/// Where output goes: a descriptor of the launcher that others may share, so that its mode is left alone and no write
/// may block for long. One thread.
class line_sink {
 public:
  /// More than this waiting: `full`, and the sources are not to be read.
  static constexpr std::size_t waiting_bytes_max = 1u << 20;

  explicit line_sink(int descriptor) noexcept;

  void push(std::string_view text);
  /// Writes what the descriptor takes without blocking.
  void flush();

  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  [[nodiscard]] bool empty() const noexcept { return waiting_.empty(); }
  [[nodiscard]] bool full() const noexcept { return waiting_.size() >= waiting_bytes_max; }
  /// Nobody reads any more; what is pushed is dropped.
  [[nodiscard]] bool broken() const noexcept { return error_ != 0; }
  /// Why, as errno tells it; 0: it is not broken.
  [[nodiscard]] int error() const noexcept { return error_; }
  [[nodiscard]] bool is_terminal() const noexcept { return terminal_; }

 private:
  int descriptor_;
  std::string waiting_;
  int error_ = 0;
  bool terminal_;
};

/// One stream of one process. A line is passed on when it is complete; an unfinished one at the end of the stream, when
/// it exceeds line_bytes_max, or when the user of this class finds that it has waited long enough. Bytes are not
/// changed, except for the label in front of each line. One thread.
class line_relay {
 public:
  static constexpr std::size_t line_bytes_max = 64 * 1024;

  /// `from` is non-blocking, or empty for a stream that comes by `take`; `label` may be empty.
  line_relay(unique_fd from, line_sink& to, std::string label);

  /// -1 after the end of the stream, and where none is read here.
  [[nodiscard]] int descriptor() const noexcept { return from_.get(); }
  [[nodiscard]] bool ended() const noexcept { return ended_; }
  [[nodiscard]] const line_sink& sink() const noexcept { return *to_; }
  [[nodiscard]] bool holds_unfinished_line() const noexcept { return !unfinished_.empty(); }

  /// Reads what there is, a bounded amount, and passes whole lines on. True when bytes came since the last call.
  bool pump();
  /// What the stream brings, when somebody else reads it, and its end.
  void take(std::string_view text);
  void end();
  /// Passes an unfinished line on as it is.
  void release_unfinished();

 private:
  void pass_on(std::string_view text);

  unique_fd from_;
  line_sink* to_;
  std::string label_;
  std::string unfinished_;
  bool moved_ = false;
  bool ended_ = false;
  bool within_line_ = false;  // the sink has the beginning of the current line
};

}  // namespace nacre::tool
