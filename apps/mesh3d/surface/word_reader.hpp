// SPDX-License-Identifier: Apache-2.0
// Lines of words and numbers, with the place for messages.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <istream>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include <nacre/error.hpp>

#include "geometry/point.hpp"

namespace mesh3d {

/// Some editors put it before the text.
inline constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

inline std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& each : lower) each = static_cast<char>(std::tolower(static_cast<unsigned char>(each)));
  return lower;
}

/// Whether a backslash at the end of a line, outside of a comment, makes the next line a part of it, as in OBJ files.
enum class continued_lines : std::uint8_t { refused, joined };

/// Reads a text file line by line. Every problem is a nacre::setup_error that names file and line.
class word_reader {
 public:
  word_reader(std::istream& stream, std::string name, continued_lines continued = continued_lines::refused)
      : input_(stream), name_(std::move(name)), continued_(continued) {}

  /// Goes to the next line that has more than a comment; false at the end of the file.
  bool next() {
    while (read_line()) {
      words_.clear();
      const std::string_view rest(text_);
      for (std::size_t index = rest.find_first_not_of(blank); index != std::string_view::npos;) {
        const std::size_t end = std::min(rest.find_first_of(blank, index), rest.size());
        words_.push_back(rest.substr(index, end - index));
        index = rest.find_first_not_of(blank, end);
      }
      if (!words_.empty()) return true;
    }
    return false;
  }
  void demand(const std::string& wanted) {
    if (next()) return;
    line_ = lines_read_ + 1;
    refuse("the file ends here", fmt::format("{} should follow", wanted),
           "correct the counts, or fetch the file again");
  }

  [[nodiscard]] std::size_t size() const noexcept { return words_.size(); }
  [[nodiscard]] std::string_view word(std::size_t k) const { return words_[k]; }
  /// Of a continued line, its first one.
  [[nodiscard]] std::uint32_t line() const noexcept { return line_; }

  [[noreturn]] void refuse(const std::string& problem, const std::string& reason, const std::string& remedy) const {
    throw nacre::setup_error({fmt::format("{}:{}: {}", name_, line_, problem), reason, remedy});
  }

  /// The beginning of a word as messages show it: what a terminal would obey is spelt out.
  [[nodiscard]] static std::string shown(std::string_view word) {
    const std::string escaped = fmt::format("{:?}", word.substr(0, 20));  // between quotation marks
    return escaped.substr(1, escaped.size() - 2);
  }

  template <class Number>
  [[nodiscard]] Number number_in(std::string_view word, const char* wanted) const {
    Number value{};
    const std::string_view digits = word.substr(word.size() > 1 && word[0] == '+' ? 1 : 0);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error == std::errc() && end == digits.data() + digits.size()) return value;
    refuse(fmt::format("'{}' is no {}", shown(word), std::is_integral_v<Number> ? "whole number" : "number"),
           fmt::format("{} should stand here", wanted), "correct it");
  }
  template <class Number>
  [[nodiscard]] Number number(std::size_t k, const char* wanted) const {
    if (k < words_.size()) return number_in<Number>(words_[k], wanted);
    refuse(fmt::format("{} words", words_.size()), fmt::format("word {} should be {}", k + 1, wanted), "add it");
  }
  /// Three coordinates from word `k` on, none of them beyond 1e100.
  [[nodiscard]] point place(std::size_t k) const {
    const point p{number<double>(k, "an x coordinate"), number<double>(k + 1, "a y coordinate"),
                  number<double>(k + 2, "a z coordinate")};
    if (std::abs(p.x) <= 1e100 && std::abs(p.y) <= 1e100 && std::abs(p.z) <= 1e100) return p;
    refuse("a coordinate is not finite, or beyond 1e100", "a surface has a place", "correct it");
  }

 private:
  static constexpr std::string_view blank = " \t\r\f\v";

  /// Reads one line into `text_`, without its comment, and those that continue it; false at the end of the file.
  bool read_line() {
    if (!std::getline(input_, text_)) return false;
    line_ = ++lines_read_;
    if (line_ == 1 && text_.compare(0, byte_order_mark.size(), byte_order_mark) == 0) {
      text_.erase(0, byte_order_mark.size());
    }
    text_.resize(std::min(text_.find('#'), text_.size()));
    std::string more;
    while (cut_backslash()) {
      if (!std::getline(input_, more)) {
        refuse("the file ends within a line", "one should follow the backslash", "fetch the file again");
      }
      ++lines_read_;
      text_.append(" ").append(more, 0, more.find('#'));
    }
    return true;
  }

  /// Whether the line goes on in the next one.
  bool cut_backslash() {
    if (continued_ == continued_lines::refused) return false;
    const std::size_t last = text_.find_last_not_of(blank);
    if (last == std::string::npos || text_[last] != '\\') return false;
    text_.resize(last);
    return true;
  }

  std::istream& input_;
  std::string name_, text_{};
  continued_lines continued_;
  std::uint32_t line_ = 0, lines_read_ = 0;
  std::vector<std::string_view> words_{};
};

}  // namespace mesh3d
