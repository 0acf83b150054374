// SPDX-License-Identifier: Apache-2.0
// Reads a TOML file that may be anything: its length and its nesting have bounds, and refusals name file and line.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include <toml++/toml.h>

namespace nacre {

/// A TOML file, read and parsed as a whole. All members throw setup_error.
class toml_file {
 public:
  /// Words for refusals: "name a file with {content}", and `reason` the file must be as it should.
  struct purpose {
    std::string_view content;
    std::string_view reason;
  };
  /// The parser destroys its tables recursively, so a name of thousands of parts would overflow the stack.
  static constexpr std::size_t nesting_max = 32;
  static constexpr std::size_t bytes_max = std::size_t{16} << 20;

  /// A pipe or a device may be read as a file. Refuses folders, and stops reading soon after `bytes_max`.
  toml_file(std::string path, purpose use);

  [[nodiscard]] const toml::table& table() const noexcept { return table_; }
  /// The file and the line, for messages.
  [[nodiscard]] std::string place_of(const toml::source_region& region) const;
  [[noreturn]] void refuse(const std::string& place, const std::string& problem, const std::string& remedy) const;

  /// Calls take(name, text, place) for every value of a table of this file and of the tables within. The names of these
  /// are joined by '.' and come after `prefix`. Refuses lists and dates.
  using take_value = std::function<void(const std::string& name, const std::string& text, const std::string& place)>;
  void for_each_value(const toml::table& table, const std::string& prefix, const take_value& take) const;

 private:
  void refuse_unreadable_kind() const;
  void refuse_deep_nesting(std::string_view text) const;
  [[nodiscard]] std::string content() const;

  std::string path_;
  purpose use_;
  toml::table table_;
};

}  // namespace nacre
