// SPDX-License-Identifier: Apache-2.0
// The numbers of the steps that are over.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>

namespace nacre {

/// A set of numbers that is small when they are used one after the other: it keeps runs of numbers. Beyond
/// `runs_max` runs it forgets the lowest one.
class step_set {
 public:
  static constexpr std::size_t runs_max = 1024;

  [[nodiscard]] bool contains(std::uint64_t step) const {
    const auto behind = runs_.upper_bound(step);
    return behind != runs_.begin() && step <= std::prev(behind)->second;
  }
  void insert(std::uint64_t step) {
    if (contains(step)) return;
    std::uint64_t first = step, last = step;
    auto behind = runs_.upper_bound(step);
    if (behind != runs_.begin()) {
      const auto before = std::prev(behind);
      if (before->second + 1 == step) {
        first = before->first;
        runs_.erase(before);
      }
    }
    if (behind != runs_.end() && behind->first == step + 1 && step + 1 != 0) {
      last = behind->second;
      runs_.erase(behind);
    }
    runs_.emplace(first, last);
    if (runs_.size() > runs_max) runs_.erase(runs_.begin());
  }
  [[nodiscard]] std::size_t runs() const noexcept { return runs_.size(); }

 private:
  std::map<std::uint64_t, std::uint64_t> runs_;  // first and last number of each
};

}  // namespace nacre
