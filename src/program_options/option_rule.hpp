// SPDX-License-Identifier: Apache-2.0
// The rules for the values of an option, and the reading of values.
#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "program_options/program_options.hpp"

namespace nacre {
namespace detail {

inline char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

template <class Value>
std::string joined(const std::vector<Value>& values, std::string_view separator) {
  std::string text;
  for (const Value& each : values) text.append(text.empty() ? "" : separator).append(fmt::format("{}", each));
  return text;
}

}  // namespace detail

/// The rules of one option. The callback that CLI11 calls when the option is given owns it.
struct program_option::rule {
  CLI::Option* option = nullptr;
  std::string called;
  bool whole = false, bytes = false, any_case = false;
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool bounded = false;  // by the program, not only by the type
  std::vector<std::string> words{};
  std::string otherwise{};  // the value of an option that is not given, as --help shows it
  std::function<std::string(const std::string&)> test{};

  [[noreturn]] void refuse(const std::string& value, const std::string& reason) const {
    throw CLI::ValidationError(fmt::format("{} has no value '{}': {}", option->get_name(), value, reason));
  }

  /// The requirement on a number, as a clause for an error message.
  [[nodiscard]] std::string kind() const {
    std::string text = fmt::format("{} is a {}number", called, whole ? "whole " : "");
    if (std::isfinite(most)) {
      text += fmt::format(" from {} to {}", bound(least), bound(most));
    } else if (std::isfinite(least)) {
      text += fmt::format(", {} or more", bound(least));
    }
    return text + (bytes ? ", also with a unit, as in 4KiB" : "");
  }

  [[nodiscard]] std::string bound(double value) const {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), whole ? "%.0f" : "%g", value);
    return text.data();
  }

  [[nodiscard]] std::size_t position_of(const std::string& value) const {
    const auto same = [this](char a, char b) { return any_case ? detail::lower(a) == detail::lower(b) : a == b; };
    const auto match = std::find_if(words.begin(), words.end(), [&](const std::string& word) {
      return std::equal(word.begin(), word.end(), value.begin(), value.end(), same);
    });
    if (match == words.end()) refuse(value, "it knows " + detail::joined(words, ", "));
    return static_cast<std::size_t>(match - words.begin());
  }

  /// Shows the default as a part of the type: each version of CLI11 shows defaults in its own way.
  void describe() const {
    std::string text = words.empty() ? called : "{" + detail::joined(words, ",") + "}";
    if (bounded) text += fmt::format(" in [{} - {}]", bound(least), bound(most));
    option->type_name(otherwise.empty() ? text : text + "=" + otherwise);
  }
};

namespace detail {

using rule = program_option::rule;

template <class Value>
constexpr bool is_optional = false;
template <class Value>
constexpr bool is_optional<std::optional<Value>> = true;
template <class Value>
constexpr bool is_list = false;
template <class Value>
constexpr bool is_list<std::vector<Value>> = true;

/// The factor of a unit: 1024 for "KiB"; 0 for a text that is no unit.
inline double factor_of(std::string_view unit) {
  constexpr std::array<std::string_view, 5> units{"", "k", "m", "g", "t"};
  std::string small(unit);
  for (char& each : small) each = lower(each);
  if (small == "b") return 1;
  for (std::size_t power = 0; power < units.size(); ++power) {
    const std::string begin(units[power]);
    if (small == begin || (power > 0 && (small == begin + "b" || small == begin + "ib"))) {
      return std::pow(1024.0, static_cast<double>(power));
    }
  }
  return 0;
}

inline void read(const rule& rule, const std::string& text, std::string& target) {
  if (text.empty()) rule.refuse(text, "it is empty, leave it out or write " + rule.called);
  if (!rule.words.empty()) (void)rule.position_of(text);
  target = text;
}

template <class Number>
requires std::is_arithmetic_v<Number>
void read(const rule& rule, const std::string& text, Number& target) {
  Number value{};
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  const double factor = rule.bytes ? factor_of(std::string_view(end, last)) : (end == last ? 1 : 0);
  const double scaled = static_cast<double>(value) * factor;
  const bool read = error == std::errc() && factor > 0 && std::isfinite(scaled);
  const bool fits = factor == 1 || scaled < static_cast<double>(std::numeric_limits<Number>::max());
  if (!read || !fits || scaled < rule.least || scaled > rule.most) rule.refuse(text, rule.kind());
  target = factor == 1 ? value : static_cast<Number>(scaled);
}

template <class Value>
void read_all(const rule& rule, const CLI::results_t& given, Value& value) {
  if (rule.test) {
    for (const std::string& each : given) {
      if (const std::string problem = rule.test(each); !problem.empty())
        rule.refuse(each, rule.called + " is " + problem);
    }
  }
  if constexpr (is_list<Value>) {
    value.clear();
    for (const std::string& each : given) read(rule, each, value.emplace_back());
  } else if constexpr (is_optional<Value>) {
    read(rule, given.front(), value.emplace());
  } else {
    read(rule, given.front(), value);
  }
}

}  // namespace detail
}  // namespace nacre
