// SPDX-License-Identifier: Apache-2.0
// The most telling lines of a report, of any number that could be told.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace nacre {

/// Keeps the first `kept_max` lines by urgency and number, and the count of all. Lines that are equal in both keep the
/// order in which they were added. In a report on a deadlock the least number tells most: elements that wait for later
/// steps only wait for the one whose message was lost. Not thread-safe.
class report_lines {
 public:
  /// cause: the line alone tells why nothing goes on. numbered: waits for a message or a step with a number.
  enum class urgency : std::uint8_t { cause, numbered, other };

  struct line {
    urgency kind = urgency::other;
    std::uint64_t number = 0;  ///< 0 unless numbered
    std::string text;

    template <class Archive>
    void serialize(Archive& ar) {
      ar(kind, number, text);
    }
  };

  report_lines() = default;  ///< keeps none
  explicit report_lines(std::size_t kept_max) noexcept : kept_max_(kept_max) {}

  /// Adds a line; calls make_text(), which returns its text, only if the line is kept.
  template <class Text>
  void add(urgency kind, std::uint64_t number, Text make_text) {
    ++count_;
    if (keeps(kind, number)) insert({kind, number, make_text()});
  }
  /// Adds the lines of another report, behind those here that are equal.
  void add(const report_lines& more) {
    for (const line& each : more.lines_) {
      if (keeps(each.kind, each.number)) insert(each);
    }
    count_ += more.count_;
  }

  [[nodiscard]] const std::vector<line>& lines() const noexcept { return lines_; }
  /// The number of lines that have been added.
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

  template <class Archive>
  void serialize(Archive& ar) {
    ar(lines_, count_);
  }

 private:
  [[nodiscard]] bool keeps(urgency kind, std::uint64_t number) const noexcept {
    return lines_.size() < kept_max_ ||
           (kept_max_ != 0 && std::tie(kind, number) < std::tie(lines_.back().kind, lines_.back().number));
  }
  void insert(line result) {
    const auto next = std::upper_bound(lines_.begin(), lines_.end(), result, [](const line& a, const line& b) {
      return std::tie(a.kind, a.number) < std::tie(b.kind, b.number);
    });
    lines_.insert(next, std::move(result));
    if (lines_.size() > kept_max_) lines_.pop_back();
  }

  std::size_t kept_max_ = 0;
  std::uint64_t count_ = 0;
  std::vector<line> lines_;  // in the order of the report
};

}  // namespace nacre
