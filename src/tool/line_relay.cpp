// SPDX-License-Identifier: Apache-2.0
// Passes the output of many processes on, in whole lines.
#include "tool/line_relay.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace nacre::tool {
namespace {

// A pipe that is writable takes this much without blocking (PIPE_BUF).
constexpr std::size_t safe_write_bytes = 4096;
constexpr int reads_per_call = 16;

bool is_writable(int descriptor) noexcept {
  pollfd watched{.fd = descriptor, .events = POLLOUT, .revents = 0};
  return ::poll(&watched, 1, 0) > 0;
}

}  // namespace

void line_sink::push(std::string_view text) {
  if (!broken()) waiting_ += text;
}

void line_sink::flush() {
  std::size_t done = 0;
  while (done < waiting_.size() && is_writable(descriptor_)) {
    const std::size_t bytes = std::min(waiting_.size() - done, safe_write_bytes);
    const ssize_t written = ::write(descriptor_, waiting_.data() + done, bytes);
    if (written < 0 && (errno == EINTR || errno == EAGAIN)) break;
    if (written < 0) {
      error_ = errno;
      waiting_.clear();
      return;
    }
    done += static_cast<std::size_t>(written);
  }
  waiting_.erase(0, done);
}

std::size_t line_sink::drop() {
  const std::size_t bytes = waiting_.size();
  waiting_.clear();
  return bytes;
}

line_relay::line_relay(unique_fd descriptor, line_sink& line_sink, std::string label)
    : source_(std::move(descriptor)), sink_(&line_sink), label_(std::move(label)) {}

bool line_relay::pump() {
  std::array<char, 16 * 1024> buffer;
  for (int reads = 0; reads < reads_per_call && source_; ++reads) {
    const ssize_t bytes = ::read(source_.get(), buffer.data(), buffer.size());
    if (bytes < 0 && (errno == EAGAIN || errno == EINTR)) break;
    if (bytes <= 0) {
      end();
      break;
    }
    rest_ -= std::min(rest_, static_cast<std::size_t>(bytes));
    take({buffer.data(), static_cast<std::size_t>(bytes)});
  }
  if (source_ && sink_->lost_reader()) {  // the process gets SIGPIPE at its next write
    source_.reset();
    ended_ = true;
  }
  return std::exchange(moved_, false);
}

void line_relay::note_rest() {
  int bytes = 0;
  if (source_ && ::ioctl(source_.get(), FIONREAD, &bytes) == 0) rest_ = static_cast<std::size_t>(bytes);
}

void line_relay::take(std::string_view text) {
  moved_ = true;
  const std::size_t last = text.rfind('\n');
  if (last == std::string_view::npos) {
    unfinished_ += text;
  } else {
    unfinished_ += text.substr(0, last + 1);
    pass_on(std::exchange(unfinished_, std::string(text.substr(last + 1))));
  }
  if (unfinished_.size() >= line_bytes_max) release_unfinished();
}

void line_relay::release_unfinished() {
  if (!unfinished_.empty()) pass_on(std::exchange(unfinished_, {}));
}

void line_relay::pass_on(std::string_view text) {
  if (label_.empty()) return sink_->push(text);
  std::string labelled;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    if (!within_line_) labelled += label_;
    labelled += text.substr(0, end);
    within_line_ = text[end - 1] != '\n';
    text.remove_prefix(end);
  }
  sink_->push(labelled);
}

void line_relay::end() {
  release_unfinished();
  if (!label_.empty() && within_line_) sink_->push("\n");  // the next line begins with a label of its own
  source_.reset();
  ended_ = true;
}

}  // namespace nacre::tool
