// SPDX-License-Identifier: Apache-2.0
// The checks of the poll loop: whether a congested rank drains, and how much it yields when it does not.
#include "backplane/send_congestion.hpp"

#include "base/marks.hpp"

namespace nacre {

void send_congestion::note_left(std::uint64_t bytes) noexcept {
  drained_bytes_ += bytes;
  const std::uint64_t waiting = waiting_bytes_.fetch_sub(bytes, std::memory_order_relaxed) - bytes;  // a hint
  if (!congested() || waiting > bytes_max_ / 2) return;
  was_congested_ = false;
  congested_.store(false, std::memory_order_relaxed);  // hints
  yields_.store(false, std::memory_order_relaxed);
}

std::chrono::nanoseconds send_congestion::check(std::chrono::nanoseconds now) {
  if (!congested()) return std::chrono::nanoseconds::max();
  if (!was_congested_ || drained_bytes_ != drained_seen_) {
    was_congested_ = true;
    drained_seen_ = drained_bytes_;
    drained_at_ = now;
  } else if (backpressure() && now - drained_at_ >= patience) {
    NACRE_MARK("a rank that cannot send goes on all the same");
    drained_at_ = now;
    yields_below_ = waiting_bytes() + bytes_max_ / 4;
    yields_.store(true, std::memory_order_relaxed);  // a hint
  }
  if (!backpressure() && waiting_bytes() > yields_below_) yields_.store(false, std::memory_order_relaxed);  // a hint
  return backpressure() ? drained_at_ + patience : std::chrono::nanoseconds::max();
}

}  // namespace nacre
