// SPDX-License-Identifier: Apache-2.0
// Measures how deeply the tables of a TOML text are nested, without recursion and without building a table.
#pragma once

#include <cstddef>
#include <string_view>

namespace nacre {

/// Steps through a text, TOML or not. In a TOML text the depth is never too small; it may be too large by the dot of a
/// number or of a time.
class nesting_scan {
 public:
  explicit nesting_scan(std::string_view text) noexcept : text_(text) {}

  /// Advances by one character, comment or string. False at the end of the text.
  [[nodiscard]] bool next() noexcept;

  /// Open brackets here, plus dots in the name that is being read.
  [[nodiscard]] std::size_t depth() const noexcept { return brackets_ + dots_; }
  /// Counted from 1.
  [[nodiscard]] std::size_t line() const noexcept { return line_; }

 private:
  void skip_comment() noexcept;
  void skip_string() noexcept;

  std::string_view text_;
  std::size_t position_ = 0;
  std::size_t line_ = 1;
  std::size_t brackets_ = 0;
  std::size_t dots_ = 0;  // since the beginning of this name or value
};

}  // namespace nacre
