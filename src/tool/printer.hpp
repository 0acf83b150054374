// SPDX-License-Identifier: Apache-2.0
// Writes the output of all ranks to the launcher's own standard output and standard error.
#pragma once

#include <poll.h>

#include <chrono>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tool/line_relay.hpp"

namespace nacre::tool {

/// Passes lines on as they become complete, and an unfinished line, such as a question, when its stream has written
/// nothing more for 100 ms. One thread.
class printer {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  printer() noexcept;

  /// Adds a stream; see line_relay. The reference is valid until `pump` is called after the end of the stream.
  line_relay& attach(unique_fd descriptor, bool to_error, std::string label);

  /// Appends the descriptors to poll.
  void watch(std::vector<pollfd>& watched) const;
  /// The time at which pump must be called even if no descriptor is ready.
  [[nodiscard]] std::optional<time_point> due() const;
  /// Reads and writes all that does not block.
  void pump(time_point now);

  /// Prints a line of the launcher itself, after all output that has arrived.
  void say(std::string_view line, time_point now);

  [[nodiscard]] const line_sink& sink(bool error) const noexcept { return error ? error_ : output_; }
  [[nodiscard]] bool has_streams() const noexcept { return !streams_.empty(); }
  /// Whether no output waits to be written.
  [[nodiscard]] bool idle() const noexcept { return output_.empty() && error_.empty(); }
  /// Whether the last pump left a stream unread, as its sink is full, though a process that has ended wrote to it.
  [[nodiscard]] bool holds_back() const noexcept;
  /// The processes have ended; others that have their descriptors may write on.
  void note_rest();
  /// Whether output was lost, which a line has reported: a write has failed, or its reader did not take it. A closed
  /// pipe (EPIPE) does not count.
  [[nodiscard]] bool lost_output() const noexcept { return lost_output_; }
  /// Passes unfinished lines on, and reads no more. What waits for a slow reader stays; `pump` writes it.
  void finish();
  /// Drops the output that still waits for a reader. A line says how much that is.
  void give_up();

 private:
  struct stream {
    line_relay relay;
    std::optional<time_point> unfinished_since;  // the time of the last bytes of an unfinished line
  };

  static void release_when_due(stream& stream, bool moved, time_point now);
  void flush();

  line_sink output_;
  line_sink error_;
  std::list<stream> streams_;
  bool lost_output_ = false;
  bool holds_back_ = false;
  bool is_finished_ = false;
};

}  // namespace nacre::tool
