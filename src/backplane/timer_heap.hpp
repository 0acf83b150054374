// SPDX-License-Identifier: Apache-2.0
// Timers in the order in which they are due, to be set and removed at any time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace nacre {

class thread_context;

/// Something that happens at an instant. Its owner keeps it alive and at its address while it is set.
class timer {
 public:
  using callback = void (*)(timer&, thread_context& thread);

  /// `when_due` is called inside the poll loop; it may end the timer's life, or set it again.
  explicit timer(callback when_due) noexcept : fire_(when_due) {}
  timer(const timer&) = delete;
  timer& operator=(const timer&) = delete;
  void fire(thread_context& thread) { fire_(*this, thread); }

 protected:
  ~timer() = default;

 private:
  friend class timer_heap;
  static constexpr std::size_t unset = ~std::size_t{0};

  callback fire_;
  std::size_t place_ = unset;  // in the heap
};

/// A heap of timers that know their places (a 4-ary one, whose four children share a cache line or two). Setting and
/// removing take a number of steps that grows with the logarithm of the number of timers; a timer that is due later
/// than most takes few. Timers that are due at one instant come in the order in which they were set. One thread at a
/// time; no clock.
class timer_heap {
 public:
  using instant = std::chrono::nanoseconds;

  [[nodiscard]] bool empty() const noexcept { return heap_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return heap_.size(); }
  /// When the earliest is due; instant::max() when there is none.
  [[nodiscard]] instant due() const noexcept { return heap_.empty() ? instant::max() : heap_.front().due; }

  /// `added` must not be set. When it throws, for want of memory, nothing has changed.
  void set(timer& added, instant due);
  /// False when `gone` is not set.
  bool remove(timer& gone) noexcept;
  /// Takes the earliest timer out, if it is due at `now`; else returns null.
  [[nodiscard]] timer* take_due(instant now) noexcept;

 private:
  static constexpr std::size_t arity = 4;
  struct entry {
    instant due;
    std::uint64_t number;  // orders timers that are due at one instant
    timer* subject;
    [[nodiscard]] bool before(const entry& other) const noexcept {
      return due != other.due ? due < other.due : number < other.number;
    }
  };
  void put(std::size_t place, const entry& moved) noexcept {
    heap_[place] = moved;
    moved.subject->place_ = place;
  }
  void rise(std::size_t place, const entry& moved) noexcept;
  void sink(std::size_t place, const entry& moved) noexcept;

  std::vector<entry> heap_;
  std::uint64_t set_ = 0;
};

}  // namespace nacre
