// SPDX-License-Identifier: Apache-2.0
// Writes the output of all ranks to the launcher's own standard output and standard error.
#include "tool/printer.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace nacre::tool {
namespace {

constexpr std::chrono::milliseconds unfinished_time{100};  // how long an unfinished line waits for its end

}  // namespace

printer::printer() noexcept : output_(STDOUT_FILENO), error_(STDERR_FILENO) {}

line_relay& printer::attach(unique_fd descriptor, bool to_error, std::string label) {
  return streams_
      .emplace_back(line_relay(std::move(descriptor), to_error ? error_ : output_, std::move(label)), std::nullopt)
      .relay;
}

void printer::watch(std::vector<pollfd>& watched) const {
  for (const auto& [relay, since] : streams_) {
    if (!is_finished_ && !relay.sink().full())
      watched.push_back({.fd = relay.descriptor(), .events = POLLIN, .revents = 0});
  }
  for (const line_sink* each : {&output_, &error_}) {
    if (!each->empty()) watched.push_back({.fd = each->descriptor(), .events = POLLOUT, .revents = 0});
  }
}

std::optional<printer::time_point> printer::due() const {
  std::optional<time_point> first;
  if (is_finished_) return first;
  for (const auto& [relay, since] : streams_) {
    if (since && !relay.sink().full()) first = std::min(first.value_or(time_point::max()), *since + unfinished_time);
  }
  return first;
}

void printer::release_when_due(stream& source, bool moved, time_point now) {
  const bool due = !moved && source.unfinished_since && now >= *source.unfinished_since + unfinished_time;
  if (due) source.relay.release_unfinished();
  if (!source.relay.holds_unfinished_line()) {
    source.unfinished_since.reset();
  } else if (moved || !source.unfinished_since) {
    source.unfinished_since = now;
  }
}

void printer::pump(time_point now) {
  holds_back_ = false;
  for (stream& each : streams_) {
    if (is_finished_) break;
    if (each.relay.sink().full()) {
      holds_back_ = true;
      continue;
    }
    const bool moved = each.relay.pump();
    release_when_due(each, moved, now);
  }
  std::erase_if(streams_, [](const stream& each) { return each.relay.ended(); });
  flush();
}

void printer::note_rest() {
  for (stream& each : streams_) each.relay.note_rest();
}

bool printer::holds_back() const noexcept {
  return holds_back_ && std::ranges::any_of(streams_, [](const stream& each) { return each.relay.has_rest(); });
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
  is_finished_ = true;
  for (stream& each : streams_) each.relay.release_unfinished();
  flush();
}

void printer::give_up() {
  const std::size_t bytes = output_.drop() + error_.drop();
  if (bytes == 0) return;
  lost_output_ = true;
  error_.push(fmt::format("nacre: {} bytes of output were not taken by their reader\n", bytes));
  error_.flush();
}

}  // namespace nacre::tool
