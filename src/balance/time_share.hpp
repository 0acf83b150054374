// SPDX-License-Identifier: Apache-2.0
// How much of a rank's time its balancer may take: an account that fills with time and is drawn on by looks.
#pragma once

#include <algorithm>

namespace nacre::balance {

/// A bounded account of seconds, which gains `share` of the time that passes, up to `burst`.
///
/// Invariant: whatever is drawn, in any interval of length t the sum of all that began while the account was not
/// overdrawn is at most burst + share * t, and the last one. So who begins nothing while it is overdrawn takes no more
/// than its share in the long run, and a short job is not kept from its first looks.
class time_share {
 public:
  /// 0 < share <= 1; times in seconds.
  time_share(double share, double burst) noexcept : share_(share), burst_(burst), left_(burst) {}

  /// Time goes on, to `now`.
  void pass(double now) noexcept {
    left_ = std::min(burst_, left_ + share_ * std::max(now - at_, 0.0));
    at_ = std::max(at_, now);
  }
  void draw(double seconds) noexcept { left_ -= seconds; }
  [[nodiscard]] bool overdrawn() const noexcept { return left_ < 0; }
  /// After how many seconds it is not overdrawn any more, if nothing is drawn meanwhile.
  [[nodiscard]] double until_even() const noexcept { return std::max(-left_ / share_, 0.0); }
  [[nodiscard]] double share() const noexcept { return share_; }

 private:
  double share_;
  double burst_;
  double left_;
  double at_ = 0;
};

}  // namespace nacre::balance
