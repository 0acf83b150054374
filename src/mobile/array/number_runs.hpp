// SPDX-License-Identifier: Apache-2.0
// Sets of numbers that are used one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

namespace nacre {

/// A set of numbers that keeps runs of them, so it is small when nearly all between the first and the last are in it.
/// Beyond `runs_max` runs it forgets the lowest one.
class number_runs {
 public:
  static constexpr std::size_t no_bound = ~std::size_t{0};
  explicit number_runs(std::size_t runs_max) noexcept : runs_max_(runs_max) {}

  [[nodiscard]] bool contains(std::uint64_t number) const { return contains(number, number); }
  /// Whether it has all numbers from `first` to `last`.
  [[nodiscard]] bool contains(std::uint64_t first, std::uint64_t last) const {
    const auto next = runs_.upper_bound(first);
    return next != runs_.begin() && last <= std::prev(next)->second;
  }
  void insert(std::uint64_t number) {
    if (contains(number)) return;
    std::uint64_t first = number, last = number;
    auto next = runs_.upper_bound(number);
    if (next != runs_.begin()) {
      const auto previous = std::prev(next);
      if (previous->second + 1 == number) {
        first = previous->first;
        runs_.erase(previous);
      }
    }
    if (next != runs_.end() && next->first == number + 1 && number + 1 != 0) {
      last = next->second;
      runs_.erase(next);
    }
    runs_.emplace(first, last);
    if (runs_.size() <= runs_max_) return;
    runs_.erase(runs_.begin());
    has_forgotten_ = true;
  }
  /// Whether it has ever forgotten a run.
  [[nodiscard]] bool has_forgotten() const noexcept { return has_forgotten_; }
  [[nodiscard]] std::size_t runs() const noexcept { return runs_.size(); }
  /// The first and last number of each run, ascending.
  [[nodiscard]] std::vector<std::pair<std::uint64_t, std::uint64_t>> list() const {
    return {runs_.begin(), runs_.end()};
  }

 private:
  const std::size_t runs_max_;
  bool has_forgotten_ = false;
  std::map<std::uint64_t, std::uint64_t> runs_;  // first and last number of each
};

}  // namespace nacre
