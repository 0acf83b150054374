// SPDX-License-Identifier: Apache-2.0
// The pauses between the calls of a member that the called side has hung up on.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include <nacre/rng.hpp>

namespace nacre::net {

/// Each pause is twice as long as the one before, up to `longest`, less a random part of up to a half: so a crowd of
/// members that were all turned away comes back thinner, and not at one time.
class call_pauses {
 public:
  static constexpr std::chrono::milliseconds longest{1000};

  /// `caller`: a number that other callers do not have.
  call_pauses(std::chrono::milliseconds first, std::uint64_t caller) noexcept : next_(first), random_(caller) {}

  [[nodiscard]] std::chrono::microseconds next() noexcept {
    const std::chrono::microseconds whole = next_;
    next_ = std::min(2 * next_, longest);
    return whole - std::chrono::microseconds(random_.below(static_cast<std::uint64_t>(whole.count()) / 2 + 1));
  }

 private:
  std::chrono::milliseconds next_;
  rng random_;
};

}  // namespace nacre::net
