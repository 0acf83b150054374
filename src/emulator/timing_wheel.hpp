// SPDX-License-Identifier: Apache-2.0
// The queue of a block of nodes: a wheel whose slots are as wide as a window, so that a slot holds what a window needs.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <utility>

#include "emulator/event.hpp"
#include "emulator/event_list.hpp"

namespace nacre::emulator {

/// Keeps lists of events by the number of their window. Adding costs the same for any number of events, as long as they
/// lie within `slots` windows of the present; farther ones wait in a map of lists.
class timing_wheel {
 public:
  static constexpr std::uint64_t slots = 1024;
  static constexpr std::uint64_t no_window = ~std::uint64_t{0};

  /// The list of a window, which is not before the present one.
  [[nodiscard]] event_list& at(std::uint64_t window) {
    if (window - present_ >= slots) [[unlikely]]
      return far_[window];
    const std::uint64_t slot = window % slots;
    occupied_[slot / 64] |= std::uint64_t{1} << (slot % 64);
    return near_[slot];
  }
  /// The first window that has events, or no_window.
  [[nodiscard]] std::uint64_t first() const noexcept {
    for (std::uint64_t step = 0; step < slots;) {
      const std::uint64_t slot = (present_ + step) % slots;
      const std::uint64_t rest = occupied_[slot / 64] >> (slot % 64);
      if (rest != 0) return present_ + step + static_cast<std::uint64_t>(std::countr_zero(rest));
      step += 64 - slot % 64;
    }
    return far_.empty() ? no_window : far_.begin()->first;
  }
  /// Makes `window` the present and takes its events. No window before it has any.
  [[nodiscard]] event_list take(std::uint64_t window) {
    present_ = window;
    while (!far_.empty() && far_.begin()->first - present_ < slots) {
      at(far_.begin()->first).splice(far_.begin()->second);
      far_.erase(far_.begin());
    }
    const std::uint64_t slot = window % slots;
    occupied_[slot / 64] &= ~(std::uint64_t{1} << (slot % 64));
    return std::exchange(near_[slot], {});
  }
  /// Calls visit(event_list&) for each list.
  template <class Visit>
  void for_each(Visit visit) {
    for (event_list& list : near_) visit(list);
    for (auto& [window, list] : far_) visit(list);
  }

 private:
  std::uint64_t present_ = 0;
  std::array<std::uint64_t, slots / 64> occupied_{};
  std::array<event_list, slots> near_{};
  std::map<std::uint64_t, event_list> far_;
};

}  // namespace nacre::emulator
