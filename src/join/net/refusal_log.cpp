// SPDX-License-Identifier: Apache-2.0
// Logs refused connections, at a limited rate, so that strangers cannot fill the log.
#include "join/net/refusal_log.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace nacre::net {

void write_error_line(std::string_view line) {
  const std::string whole = fmt::format("{}\n", line);
  // One write, so that lines of several processes do not mix. A failure has nowhere to be reported.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, whole.data(), whole.size());
}

refusal_log::refusal_log(std::string speaker, line_sink sink) : speaker_(std::move(speaker)), sink_(std::move(sink)) {}

void refusal_log::write(std::string_view line, time_point now) {
  const auto intervals = (now - refilled_) / interval;
  if (intervals > 0) {
    left_ = static_cast<std::uint32_t>(std::min<std::int64_t>(burst, left_ + intervals));
    refilled_ = now;
  }
  if (left_ == 0) {
    ++suppressed_;
    return;
  }
  --left_;
  if (suppressed_ == 0) return sink_(fmt::format("{} {}", speaker_, line));
  sink_(fmt::format("{} {} ({} more were refused before)", speaker_, line, std::exchange(suppressed_, 0)));
}

}  // namespace nacre::net
