// SPDX-License-Identifier: Apache-2.0
// Puts numbered items into the order of their numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

namespace nacre {

/// The sender numbers items `first`, `first` + 1, ..., with 32 bits that wrap. An early item is set aside: the ones
/// before it are certain to come. Not thread-safe.
template <class T>
class in_order {
 public:
  explicit in_order(std::uint32_t first = 0) noexcept : next_(first) {}
  /// Calls take(item) for this item and for the items set aside that are next now. False: the number has come before.
  template <class Take>
  bool admit(std::uint32_t number, T item, Take take) {
    const auto ahead = static_cast<std::int32_t>(number - next_);
    if (ahead < 0) return false;
    if (ahead > 0) return early_.emplace(number, std::move(item)).second;
    ++next_;
    take(std::move(item));
    for (auto match = early_.find(next_); match != early_.end(); match = early_.find(next_)) {
      ++next_;
      T one = std::move(match->second);
      early_.erase(match);
      take(std::move(one));
    }
    return true;
  }
  [[nodiscard]] std::size_t early_count() const noexcept { return early_.size(); }

 private:
  std::uint32_t next_;
  std::map<std::uint32_t, T> early_;
};

}  // namespace nacre
