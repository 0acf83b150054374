// SPDX-License-Identifier: Apache-2.0
// Decides from the bytes that wait to be sent whether a rank should produce less.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "base/cache_line.hpp"

namespace nacre {

/// | state | event | then |
/// |---|---|---|
/// | free | more than bytes_max wait | draining |
/// | draining | nothing has left for `patience` | yielding: the peers may wait for work that is delayed here |
/// | yielding | since yielding began, bytes_max / 4 more bytes wait | draining |
/// | draining, yielding | at most half of bytes_max wait | free |
///
/// Draining is backpressure: workers run arriving work first, and leave work that this rank's own handlers made.
class send_congestion {
 public:
  static constexpr std::chrono::milliseconds patience{10};

  explicit send_congestion(std::uint64_t bytes_max) noexcept : bytes_max_(bytes_max) {}

  /// Draining or yielding. Any thread, as a hint.
  [[nodiscard]] bool congested() const noexcept { return congested_.load(std::memory_order_relaxed); }  // a hint
  /// Draining. Any thread, as a hint.
  [[nodiscard]] bool backpressure() const noexcept { return congested() && !yields_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t waiting_bytes() const noexcept { return waiting_bytes_.load(std::memory_order_relaxed); }

  /// Any thread: so many more bytes wait.
  void note_waiting(std::uint64_t bytes) noexcept {
    const std::uint64_t waiting = waiting_bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes;  // a hint
    if (waiting > bytes_max_ && !congested()) congested_.store(true, std::memory_order_relaxed);
  }
  /// Inside the poll loop: so many bytes have left.
  void note_left(std::uint64_t bytes) noexcept;
  /// Inside the poll loop, now and then. Returns when to call again at the latest.
  [[nodiscard]] std::chrono::nanoseconds check(std::chrono::nanoseconds now);

 private:
  const std::uint64_t bytes_max_;
  bool was_congested_ = false;              // poll loop: at the last check
  std::uint64_t yields_below_ = 0;          // poll loop: waiting bytes
  std::uint64_t drained_bytes_ = 0;         // poll loop: that have ever left
  std::uint64_t drained_seen_ = 0;          // poll loop: at the last check
  std::chrono::nanoseconds drained_at_{0};  // poll loop: when it last saw bytes leave, or began to yield

  alignas(cache_line_bytes) std::atomic<bool> congested_{false};
  std::atomic<bool> yields_{false};  // though congested
  alignas(cache_line_bytes) std::atomic<std::uint64_t> waiting_bytes_{0};
};

}  // namespace nacre
