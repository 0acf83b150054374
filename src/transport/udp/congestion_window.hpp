// SPDX-License-Identifier: Apache-2.0
// The number of bytes that may be on their way to one peer, as the network has shown: NewReno (RFC 5681, RFC 9002).
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>

namespace nacre::transport::udp {

/// | event | window |
/// |---|---|
/// | acknowledgement below the threshold (slow start) | grows by the acknowledged bytes |
/// | acknowledgement above it | grows by one datagram for each window of bytes |
/// | acknowledgement while the window was not in use, or of a datagram from before the last loss | stays |
/// | a loss, the first of its round trip | halves, and is the new threshold |
/// | silence for several overdue times | falls to its least |
class congestion_window {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  /// The window is never less than `least_bytes`, nor than two datagrams.
  congestion_window(std::uint32_t datagram_bytes, std::uint64_t least_bytes) noexcept
      : datagram_bytes_(datagram_bytes),
        least_(std::max(least_bytes, 2 * std::uint64_t{datagram_bytes})),
        bytes_(std::max(least_, 10 * std::uint64_t{datagram_bytes})) {}

  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

  /// A datagram sent at `time` was acknowledged. `in_use`: the window has kept others from leaving.
  void on_acknowledged(std::uint64_t bytes, time_point time, bool in_use) noexcept {
    if (in_recovery(time) || !in_use) return;
    if (bytes_ < threshold_) {
      bytes_ += bytes;
    } else if ((acknowledged_ += bytes) >= bytes_) {
      acknowledged_ -= bytes_;
      bytes_ += datagram_bytes_;
    }
    bytes_ = std::min(bytes_, most);
  }
  /// A datagram sent at `time` is lost.
  void on_lost(time_point time, time_point now) noexcept {
    if (in_recovery(time)) return;
    recovering_ = true;
    recovery_began_ = now;
    threshold_ = bytes_ = std::max(bytes_ / 2, least_);
    acknowledged_ = 0;
  }
  /// Nothing has been heard of the peer for long.
  void on_silence() noexcept {
    bytes_ = least_;
    acknowledged_ = 0;
  }

 private:
  static constexpr std::uint64_t most = std::uint64_t{64} << 20;

  [[nodiscard]] bool in_recovery(time_point sent) const noexcept { return recovering_ && sent <= recovery_began_; }

  std::uint32_t datagram_bytes_;
  std::uint64_t least_;
  std::uint64_t bytes_;
  std::uint64_t acknowledged_ = 0;  // above the threshold, since the window last grew
  std::uint64_t threshold_ = std::numeric_limits<std::uint64_t>::max();
  bool recovering_ = false;
  time_point recovery_began_{};
};

}  // namespace nacre::transport::udp
