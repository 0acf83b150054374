// SPDX-License-Identifier: Apache-2.0
// A file that a report is written to, through a buffer.
#pragma once

#include <cstdio>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace nacre::tool {

/// A file with a buffer. `close` reports all write errors, so callers of `put` need not check.
class buffered_file {
 public:
  /// Creates the file. Throws setup_error if that fails.
  explicit buffered_file(const std::string& path);
  buffered_file(const buffered_file&) = delete;
  buffered_file& operator=(const buffered_file&) = delete;
  ~buffered_file();

  void put(std::string_view text) {
    waiting_.append(text);
    if (waiting_.size() > enough) write();
  }
  template <class... Arguments>
  void put(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(waiting_), format, std::forward<Arguments>(arguments)...);
    if (waiting_.size() > enough) write();
  }
  /// Throws setup_error if any write has failed.
  void close();

 private:
  static constexpr std::size_t enough = 1 << 20;
  void write();

  std::string path_;
  std::FILE* file_;
  bool failed_ = false;
  std::string waiting_;
};

}  // namespace nacre::tool
