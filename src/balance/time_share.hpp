// SPDX-License-Identifier: Apache-2.0
// How much of a rank's time its balancer may take: an account that fills with time and is drawn on by looks.
#pragma once

#include <algorithm>

namespace nacre::balance {

/// A bounded account of seconds, which gains `share` of the time that passes, up to `burst`.
///
/// Invariant: in any interval of length t, the draws that began while the account was not overdrawn sum up to at most
/// burst + share * t, plus the last of them. So a user that begins nothing while the account is overdrawn takes at most
/// its share in the long run. The burst lets a short job have its first looks.
class time_share {
 public:
  /// 0 < share <= 1; times in seconds.
  time_share(double share, double burst) noexcept : share_(share), burst_(burst), left_(burst) {}

  /// Advances the account's time to `now`; an earlier time changes nothing.
  void pass(double now) noexcept {
    left_ = std::min(burst_, left_ + share_ * std::max(now - time_, 0.0));
    time_ = std::max(time_, now);
  }
  void draw(double seconds) noexcept { left_ -= seconds; }
  [[nodiscard]] bool overdrawn() const noexcept { return left_ < 0; }
  /// Seconds until the account is not overdrawn any more, if nothing is drawn meanwhile.
  [[nodiscard]] double until_even() const noexcept { return std::max(-left_ / share_, 0.0); }
  [[nodiscard]] double share() const noexcept { return share_; }

 private:
  double share_;
  double burst_;
  double left_;
  double time_ = 0;
};

}  // namespace nacre::balance
