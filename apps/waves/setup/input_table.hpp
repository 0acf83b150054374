// SPDX-License-Identifier: Apache-2.0
// A table of an input file, whose keys are all known.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <set>
#include <string>

#include <toml++/toml.h>

namespace waves {

/// Reads keys and remembers them, so that `finish` can refuse the others. Every function throws nacre::setup_error.
class input_table {
 public:
  /// `name` is what messages call the table.
  input_table(std::string file, std::string name, const toml::table& table);

  [[nodiscard]] std::optional<double> number(const std::string& key);
  [[nodiscard]] double required_number(const std::string& key);
  [[nodiscard]] std::optional<std::string> text(const std::string& key);
  [[nodiscard]] std::optional<bool> truth(const std::string& key);
  template <std::size_t Count>
  [[nodiscard]] std::optional<std::array<double, Count>> numbers(const std::string& key) {
    std::array<double, Count> values{};
    if (!read_numbers(key, values.data(), Count)) return std::nullopt;
    return values;
  }
  template <std::size_t Count>
  [[nodiscard]] std::array<double, Count> required_numbers(const std::string& key) {
    const auto values = numbers<Count>(key);
    if (!values) refuse_missing(key);
    return *values;
  }
  /// Refuses keys that nobody has read.
  void finish() const;
  [[noreturn]] void refuse(const std::string& problem, const std::string& remedy) const;

 private:
  [[nodiscard]] bool read_numbers(const std::string& key, double* target, std::size_t count);
  [[noreturn]] void refuse_missing(const std::string& key) const;
  const toml::node* find(const std::string& key);

  std::string file_, name_;
  const toml::table& table_;
  std::set<std::string> known_;
};

}  // namespace waves
