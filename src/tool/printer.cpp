// SPDX-License-Identifier: Apache-2.0
// Writes the output of all ranks to the launcher's own standard output and standard error.
#include "tool/printer.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace nacre::tool {
namespace {

constexpr std::chrono::milliseconds unfinished_time{100};  // how long a terminal waits for the end of a line

}  // namespace

printer::printer() noexcept : output_(STDOUT_FILENO), error_(STDERR_FILENO) {}

line_relay& printer::attach(unique_fd from, bool to_error, std::string label) {
  return relays_.emplace_back(std::move(from), to_error ? error_ : output_, std::move(label));
}

void printer::watch(std::vector<pollfd>& watched) const {
  for (const line_relay& each : relays_) {
    if (!each.sink().full()) watched.push_back({.fd = each.descriptor(), .events = POLLIN, .revents = 0});
  }
  for (const line_sink* each : {&output_, &error_}) {
    if (!each->empty()) watched.push_back({.fd = each->descriptor(), .events = POLLOUT, .revents = 0});
  }
}

std::optional<printer::time_point> printer::due() const {
  if (!unfinished_since_) return std::nullopt;
  return *unfinished_since_ + unfinished_time;
}

void printer::pump(time_point now) {
  bool unfinished = false;
  for (line_relay& each : relays_) {
    if (each.sink().full()) continue;
    const bool moved = each.pump();
    if (each.sink().is_terminal() && each.holds_unfinished_line()) {
      if (!moved && unfinished_since_ && now >= *unfinished_since_ + unfinished_time) each.release_unfinished();
      unfinished |= each.holds_unfinished_line();
    }
  }
  if (!unfinished) unfinished_since_.reset();
  if (unfinished && (!unfinished_since_ || now >= *unfinished_since_ + unfinished_time)) unfinished_since_ = now;
  std::erase_if(relays_, [](const line_relay& each) { return each.ended(); });
  flush();
}

void printer::flush() {
  output_.flush();
  if (!lost_output_ && output_.broken() && output_.error() != EPIPE) {
    lost_output_ = true;
    error_.push(std::string("nacre: standard output cannot be written: ") + std::strerror(output_.error()) + "\n");
  }
  error_.flush();
}

void printer::say(std::string_view line, time_point now) {
  pump(now);
  error_.push(std::string(line) + "\n");
  error_.flush();
}

void printer::finish() {
  for (line_relay& each : relays_) each.release_unfinished();
  flush();
}

}  // namespace nacre::tool
