// SPDX-License-Identifier: Apache-2.0
// Where the output of all ranks comes together: the launcher's own standard output and standard error.
#pragma once

#include <poll.h>

#include <chrono>
#include <list>
#include <optional>
#include <string_view>
#include <vector>

#include "tool/line_relay.hpp"

namespace nacre::tool {

/// Passes lines on as they become complete, and unfinished ones after a while when a person watches. One thread.
class printer {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  printer() noexcept;

  /// One more stream; see line_relay. The reference is good until the stream has ended and `pump` has been called.
  line_relay& attach(unique_fd from, bool to_error, std::string label);

  /// Appends what to sleep on.
  void watch(std::vector<pollfd>& watched) const;
  /// When pump should be called although nothing happens.
  [[nodiscard]] std::optional<time_point> due() const;
  /// Moves what can be moved now.
  void pump(time_point now);

  /// A line of the launcher itself, behind all that has come.
  void say(std::string_view line, time_point now);

  [[nodiscard]] const line_sink& sink(bool error) const noexcept { return error ? error_ : output_; }
  [[nodiscard]] bool has_streams() const noexcept { return !relays_.empty(); }
  /// Nothing waits to be written.
  [[nodiscard]] bool idle() const noexcept { return output_.empty() && error_.empty(); }
  /// Something of standard output is lost, which a line has said; not where a pipe has been closed.
  [[nodiscard]] bool lost_output() const noexcept { return lost_output_; }
  /// Passes unfinished lines on, without waiting for a reader.
  void finish();

 private:
  void flush();

  line_sink output_;
  line_sink error_;
  std::list<line_relay> relays_;
  std::optional<time_point> unfinished_since_;
  bool lost_output_ = false;
};

}  // namespace nacre::tool
