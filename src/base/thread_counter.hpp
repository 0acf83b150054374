// SPDX-License-Identifier: Apache-2.0
// A counter of one thread that other threads read.
#pragma once

#include <atomic>
#include <cstdint>

namespace nacre {

/// A counter that one thread advances and others read.
class thread_counter {
 public:
  /// Owner only. release: pairs with the acquire in `read`, so that a reader that sees a message done sees all that its
  /// handler has created before.
  void add(std::uint64_t amount) noexcept {
    value_.store(value_.load(std::memory_order_relaxed) + amount, std::memory_order_release);
  }
  [[nodiscard]] std::uint64_t read() const noexcept { return value_.load(std::memory_order_acquire); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

}  // namespace nacre
