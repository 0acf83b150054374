// SPDX-License-Identifier: Apache-2.0
// Counts of the messages with contributed values that the elements of an array have sent to the homes of their places.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>

#include "base/marks.hpp"

namespace nacre {

/// An element tells, when it ends, how many values it has sent in messages. Until as many have come, its place is
/// *unsettled*: a step must not end without a value that is still under way. One place may be unsettled several times,
/// because a later element at it may end meanwhile, too. Not thread-safe.
class value_messages {
 public:
  /// The element of a place has ended. `sent`: its messages; `epoch`: of the place afterwards. Returns whether the
  /// place is unsettled once more.
  [[nodiscard]] bool ended(std::uint64_t place, std::uint32_t sent, std::uint32_t epoch) {
    const auto match = came_.find(place);
    const std::uint32_t came = match != came_.end() ? match->second : 0;
    if (match != came_.end()) came_.erase(match);
    if (sent == came) return false;
    NACRE_MARK("an element ends while a value that it contributed is under way");
    unsettled_.emplace(place, unsettled_end{epoch, sent - came});
    return true;
  }
  /// A message has come. `epoch`: of the element when it sent. Returns whether the place is unsettled once less.
  [[nodiscard]] bool came(std::uint64_t place, std::uint32_t epoch) {
    // Epochs rise with each move, end and insertion of a place.
    const auto [first, last] = unsettled_.equal_range(place);
    const auto old = std::find_if(
        first, last, [&](const auto& each) { return static_cast<std::int32_t>(epoch - each.second.epoch) < 0; });
    if (old == last) {
      ++came_[place];
      return false;
    }
    if (--old->second.missing != 0) return false;
    unsettled_.erase(old);
    return true;
  }
  /// How many times a place is unsettled.
  [[nodiscard]] std::size_t unsettled(std::uint64_t place) const { return unsettled_.count(place); }

 private:
  struct unsettled_end {
    std::uint32_t epoch;    // of the place when its element had ended
    std::uint32_t missing;  // values under way
  };
  std::unordered_map<std::uint64_t, std::uint32_t> came_;  // by place: messages of its present element
  std::multimap<std::uint64_t, unsettled_end> unsettled_;  // by place, each place's in the order of its ends
};

}  // namespace nacre
