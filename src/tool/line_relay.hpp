// SPDX-License-Identifier: Apache-2.0
// Passes the output of many processes on, in whole lines.
#pragma once

#include <cerrno>
#include <cstddef>
#include <string>
#include <string_view>

#include "join/net/socket.hpp"

namespace nacre::tool {

using net::unique_fd;

/// An output descriptor of the launcher. Other processes may share it, so its flags stay unchanged (no O_NONBLOCK), and
/// each write is small enough not to block. One thread.
class line_sink {
 public:
  /// Backpressure: from this many waiting bytes on the sink is `full`, and its sources must not be read.
  static constexpr std::size_t waiting_bytes_max = 1u << 20;

  explicit line_sink(int descriptor) noexcept : descriptor_(descriptor) {}

  void push(std::string_view text);
  /// Writes as much as the descriptor takes without blocking.
  void flush();
  /// Drops the text that waits. Returns its length.
  std::size_t drop();

  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  [[nodiscard]] bool empty() const noexcept { return waiting_.empty(); }
  [[nodiscard]] bool full() const noexcept { return waiting_.size() >= waiting_bytes_max; }
  /// A write has failed; `push` drops all further text.
  [[nodiscard]] bool broken() const noexcept { return error_ != 0; }
  /// The reader has closed the pipe, so the sources may learn that nobody wants their output.
  [[nodiscard]] bool lost_reader() const noexcept { return error_ == EPIPE; }
  /// The errno of the failed write; 0: none has failed.
  [[nodiscard]] int error() const noexcept { return error_; }

 private:
  int descriptor_;
  std::string waiting_;
  int error_ = 0;
};

/// Passes one output stream of one process on to a sink. A complete line is passed on at once. An unfinished line is
/// passed on at the end of the stream, when it reaches line_bytes_max, or when the caller releases it. Bytes stay as
/// they are, but each line gets the label in front. When the sink has lost its reader the stream is closed; after any
/// other failed write its text is read and dropped, so that the process goes on. One thread.
class line_relay {
 public:
  static constexpr std::size_t line_bytes_max = 64 * 1024;

  /// `descriptor` is non-blocking, or empty when the caller passes the text to `take`; `label` may be empty.
  line_relay(unique_fd descriptor, line_sink& line_sink, std::string label);

  /// -1 after the end of the stream, and for a stream without a descriptor.
  [[nodiscard]] int descriptor() const noexcept { return source_.get(); }
  [[nodiscard]] bool ended() const noexcept { return ended_; }
  [[nodiscard]] const line_sink& sink() const noexcept { return *sink_; }
  [[nodiscard]] bool holds_unfinished_line() const noexcept { return !unfinished_.empty(); }

  /// Reads a bounded amount and passes whole lines on. Returns true when bytes have come since the last call.
  bool pump();
  /// Text of the stream that the caller has read itself.
  void take(std::string_view text);
  /// The end of the stream.
  void end();
  /// Passes an unfinished line on as it is.
  void release_unfinished();
  /// The process has ended: the bytes that lie in the pipe now are the rest of its output.
  void note_rest();
  [[nodiscard]] bool has_rest() const noexcept { return source_ && rest_ > 0; }

 private:
  void pass_on(std::string_view text);

  unique_fd source_;
  line_sink* sink_;
  std::string label_;
  std::string unfinished_;
  bool moved_ = false;
  bool ended_ = false;
  bool within_line_ = false;  // the sink has the start of the current line
  std::size_t rest_ = 0;      // bytes to be read that a process which has ended has written
};

}  // namespace nacre::tool
