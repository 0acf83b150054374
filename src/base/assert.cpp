// SPDX-License-Identifier: Apache-2.0
// Reports a broken invariant in one write and ends the process.
#include <nacre/assert.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>

#include <unistd.h>

namespace nacre {
namespace {

struct label {
  std::array<char, 63> text{};
  unsigned char length = 0;
};

constinit thread_local label own_label;

}  // namespace

void set_thread_label(std::string_view text) noexcept {
  own_label.length = static_cast<unsigned char>(std::min(text.size(), own_label.text.size()));
  std::copy_n(text.data(), own_label.length, own_label.text.data());
}

std::string_view thread_label() noexcept { return {own_label.text.data(), own_label.length}; }

namespace detail {

void assertion_failed(std::string_view kind, std::string_view expression, std::string_view message,
                      source_place place) {
  std::string block = "nacre: ";
  block.append(kind).append(" failed: ").append(message);
  block.append("\n  check:  ").append(expression);
  block.append("\n  place:  ").append(place.file).append(":").append(std::to_string(place.line));
  block.append(" in ").append(place.function);
  block.append("\n  thread: ").append(thread_label().empty() ? "(no label)" : thread_label()).append("\n");
  // One write, so that the reports of several threads do not mix. The process ends whether or not the write succeeds.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, block.data(), block.size());
  std::abort();
}

}  // namespace detail
}  // namespace nacre
