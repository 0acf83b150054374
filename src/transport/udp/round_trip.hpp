// SPDX-License-Identifier: Apache-2.0
// Estimates the round trip to one peer (RFC 6298), and from it the time after which an answer is overdue.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

namespace nacre::transport::udp {

/// Smoothed round trip and its variation, as in RFC 6298, with the limits of RFC 9002: a peer may delay an
/// acknowledgement, tells by how much, and that time is no part of the round trip.
class round_trip {
 public:
  using duration = std::chrono::nanoseconds;

  /// The longest time for which a peer delays an acknowledgement on purpose.
  static constexpr duration ack_delay_max = std::chrono::microseconds(200);
  /// A thread that is delayed by this much is no sign of a loss.
  static constexpr duration granularity = std::chrono::milliseconds(1);

  /// Takes one measurement: the time from a datagram to its acknowledgement, and the peer's delay within it. A rank
  /// that did not poll for long measures its own pause, so longer measurements are cut to `longest`.
  void add(duration measured, duration ack_delay) noexcept {
    measured = std::min(measured, longest);
    latest_ = measured;
    least_ = least_ ? std::min(*least_, measured) : measured;
    const duration without_delay = measured - std::min(ack_delay, ack_delay_max);
    const duration sample = without_delay >= *least_ ? without_delay : measured;
    if (!smoothed_) {
      smoothed_ = sample;
      variation_ = sample / 2;
      return;
    }
    const duration error = *smoothed_ > sample ? *smoothed_ - sample : sample - *smoothed_;
    variation_ = (3 * variation_ + error) / 4;
    smoothed_ = (7 * *smoothed_ + sample) / 8;
  }

  /// An acknowledgement that takes longer is overdue.
  [[nodiscard]] duration overdue_after() const noexcept {
    return smoothed_.value_or(first_guess) + std::max(4 * variation_, granularity) + ack_delay_max;
  }
  /// A datagram is lost when one that was sent later is acknowledged and this time has passed since it was sent.
  [[nodiscard]] duration lost_after() const noexcept {
    return std::max(9 * std::max(smoothed_.value_or(first_guess), latest_) / 8, granularity);
  }
  static constexpr duration longest = std::chrono::milliseconds(500);

 private:
  static constexpr duration first_guess = std::chrono::milliseconds(10);

  std::optional<duration> smoothed_;
  std::optional<duration> least_;
  duration latest_{};
  duration variation_ = first_guess / 4;
};

}  // namespace nacre::transport::udp
