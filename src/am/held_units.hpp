// SPDX-License-Identifier: Apache-2.0
// Units of work that lie at their objects while an image is taken: what the object layer holds, and waves count.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

namespace nacre {

class thread_context;

/// A part of the runtime that has units of work outside of objects, which may lie, that is, wait for the end of a hold.
class held_part {
 public:
  /// Returns how many of its open units lie now. A caller reads the counters of units first; so the result includes
  /// every change that a counted unit has made. Any thread.
  [[nodiscard]] virtual std::uint64_t lying() = 0;
  /// Continues the units that lie, since the hold has ended. Called by main, which itself counts as a unit.
  virtual void go_on(thread_context& thread) = 0;

 protected:
  ~held_part() = default;
};

/// The units of one rank that lie during a hold. The object layer writes the counters, under a lock of its own; any
/// thread reads them.
///
/// While the hold is on, objects admit messages and run none. `lying` is the number of counted messages that objects
/// have admitted and not taken up again, plus the units that lie in other parts. `taken_up` only grows: it counts the
/// activations that have begun during holds, each of which may change `lying`.
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
