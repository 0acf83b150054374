// SPDX-License-Identifier: Apache-2.0
// Units of work that lie at their objects while an image is taken: what the object layer holds, and waves count.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

namespace nacre {

class thread_context;

/// A part of the runtime whose units lie in a way of their own during a hold.
class held_part {
 public:
  /// Its open units that lie now. It reads them behind the counters of units, so a change that a counted unit brings
  /// about is seen by them. Any thread.
  [[nodiscard]] virtual std::uint64_t lying() = 0;
  /// The hold has ended; main, which is a unit itself.
  virtual void go_on(thread_context& thread) = 0;

 protected:
  ~held_part() = default;
};

/// Of one rank. The object layer writes, with a lock of its own; any thread reads.
///
/// While the hold is on, objects admit messages and run none. `lying` is the number of counted messages that have been
/// admitted in this way and have not been taken up again, and of the units that lie in other parts. `taken_up` only
/// grows: it counts activations that have begun during holds, each of which may change `lying`.
class held_units {
 public:
  [[nodiscard]] bool on() const noexcept { return is_on_.load(std::memory_order_relaxed); }  // a hint; the lock decides
  [[nodiscard]] std::uint64_t lying() const {
    std::uint64_t sum = lying_.load(std::memory_order_acquire);
    if (!on()) return sum;
    for (held_part* const each : parts_) sum += each->lying();
    return sum;
  }
  [[nodiscard]] std::uint64_t taken_up() const noexcept { return taken_up_.load(std::memory_order_acquire); }
  /// Before the rank's threads start.
  void add(held_part& part) { parts_.push_back(&part); }

 private:
  friend class object_hold;
  std::atomic<bool> is_on_{false};
  std::atomic<std::uint64_t> lying_{0}, taken_up_{0};  // release: pairs with the acquire of their readers
  std::vector<held_part*> parts_;
};

}  // namespace nacre
