// SPDX-License-Identifier: Apache-2.0
// A work-stealing deque: its owner works at one end, thieves take from the other.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/cache_line.hpp"

namespace nacre {

/// How an attempt to take the oldest element ended.
enum class steal_result {
  taken,     ///< the caller has it
  empty,     ///< there was none
  lost_race  ///< another thread took it at the same moment; trying again may help
};

/// Unbounded deque of pointers to elements that it does not own. One thread is the owner; any thread may take the
/// oldest element.
///
/// Invariant: each element is taken once. Elements have indices that only grow; those in [top, bottom) are in the
/// deque. The owner moves bottom, a compare-exchange moves top. The owner and a thief can only meet at the last
/// element, and there the thread that wins the exchange on top takes it. Why they meet nowhere else: the owner lowers
/// bottom and then reads top; a thief reads top and then bottom; all four are in the single order of sequentially
/// consistent operations. So if the owner saw top < its index, a thief that later finds top at that index also finds
/// bottom lowered. There are no fences, because a race detector cannot see them. Source: Chase and Lev, SPAA 2005; Le
/// et al., PPoPP 2013.
template <class T>
class ws_deque {
 public:
  /// `capacity` elements fit before the first growth; it is rounded up to a power of two.
  explicit ws_deque(std::size_t capacity = 256) { ring_.store(add_ring(capacity)); }
  ws_deque(const ws_deque&) = delete;
  ws_deque& operator=(const ws_deque&) = delete;

  /// Adds the newest element. Owner only. Throws std::bad_alloc when it cannot grow, and leaves the deque unchanged.
  void push(T* element) {
    const std::int64_t bottom = bottom_.load(std::memory_order_relaxed);  // the owner's own variable
    ring* slots = ring_.load(std::memory_order_relaxed);                  // the owner's own variable
    if (bottom - top_seen_ >= slots->capacity()) {
      top_seen_ = top_.load(std::memory_order_acquire);  // pairs with the exchange on top
      if (bottom - top_seen_ >= slots->capacity()) slots = grow(slots, top_seen_, bottom);
    }
    slots->at(bottom).store(element, std::memory_order_relaxed);  // published by the next line
    bottom_.store(bottom + 1, std::memory_order_release);         // pairs with the load of bottom in take_oldest
  }

  /// Takes the newest element, or nullptr. Owner only.
  [[nodiscard]] T* take_newest() noexcept {
    const std::int64_t bottom = bottom_.load(std::memory_order_relaxed) - 1;  // the owner's own variable
    if (top_.load() > bottom) return nullptr;
    ring* const slots = ring_.load(std::memory_order_relaxed);  // the owner's own variable
    bottom_.store(bottom);
    std::int64_t top = top_.load();
    if (top > bottom) {
      bottom_.store(bottom + 1, std::memory_order_release);  // as in push; nothing was taken
      return nullptr;
    }
    T* element = slots->at(bottom).load(std::memory_order_relaxed);  // written by this thread
    if (top == bottom) {
      if (!top_.compare_exchange_strong(top, top + 1)) element = nullptr;
      bottom_.store(bottom + 1, std::memory_order_release);  // as in push; the deque is empty
    }
    return element;
  }

  /// Takes the oldest element into `element`; leaves `element` untouched when it takes none. Any thread.
  [[nodiscard]] steal_result take_oldest(T*& element) noexcept {
    std::int64_t top = top_.load();
    const std::int64_t bottom = bottom_.load();
    if (top >= bottom) return steal_result::empty;
    const ring* const slots = ring_.load(std::memory_order_acquire);  // pairs with the release store in grow
    T* const value = slots->at(top).load(std::memory_order_relaxed);  // ordered by the load of bottom
    if (!top_.compare_exchange_strong(top, top + 1)) return steal_result::lost_race;
    element = value;
    return steal_result::taken;
  }

  /// Takes the oldest element; nullptr when the deque was empty or the race was lost. Any thread.
  [[nodiscard]] T* take_oldest() noexcept {
    T* element = nullptr;
    return take_oldest(element) == steal_result::taken ? element : nullptr;
  }

  /// Returns an element that was in the deque at some moment of this call: about the `index`th, counted from the
  /// oldest; null when there are not so many. Another thread may take it at any moment, and nothing keeps it alive. Any
  /// thread.
  [[nodiscard]] T* peek(std::size_t index) const noexcept {
    const std::int64_t position = top_.load() + static_cast<std::int64_t>(index);
    if (position >= bottom_.load()) return nullptr;
    const ring* const slots = ring_.load(std::memory_order_acquire);  // pairs with the release store in grow
    return slots->at(position).load(std::memory_order_relaxed);       // ordered by the load of bottom
  }

  /// Takes the oldest element if it is `element`. Any thread.
  [[nodiscard]] bool take_if_oldest(const T* element) noexcept {
    std::int64_t top = top_.load();
    if (top >= bottom_.load()) return false;
    const ring* const slots = ring_.load(std::memory_order_acquire);  // pairs with the release store in grow
    if (slots->at(top).load(std::memory_order_relaxed) != element) return false;  // ordered by the load of bottom
    return top_.compare_exchange_strong(top, top + 1);
  }

  /// Whether take_oldest would return `empty`; as reliable as take_oldest itself. Any thread.
  [[nodiscard]] bool empty() const noexcept {
    const std::int64_t top = top_.load();
    return top >= bottom_.load();
  }

  /// Returns the number of elements a moment ago; exact only for the owner while no thief is active. Any thread.
  [[nodiscard]] std::size_t size_estimate() const noexcept {
    const std::int64_t top = top_.load(std::memory_order_relaxed);        // an estimate needs no order
    const std::int64_t bottom = bottom_.load(std::memory_order_relaxed);  // an estimate needs no order
    return bottom > top ? static_cast<std::size_t>(bottom - top) : 0;
  }

 private:
  class ring {
   public:
    explicit ring(std::size_t capacity) : mask_(capacity - 1), slots_(new std::atomic<T*>[capacity]) {}
    [[nodiscard]] std::int64_t capacity() const noexcept { return static_cast<std::int64_t>(mask_) + 1; }
    [[nodiscard]] std::atomic<T*>& at(std::int64_t index) const noexcept {
      return slots_[static_cast<std::size_t>(index) & mask_];
    }

   private:
    std::size_t mask_;
    std::unique_ptr<std::atomic<T*>[]> slots_;
  };

  ring* add_ring(std::size_t capacity) {
    std::size_t rounded = 2;
    while (rounded < capacity) rounded *= 2;
    return rings_.emplace_back(std::make_unique<ring>(rounded)).get();
  }

  /// The old ring lives as long as the deque, because a thief may still read it. All old rings together are smaller
  /// than the ring in use.
  ring* grow(const ring* old, std::int64_t top, std::int64_t bottom) {
    ring* const larger = add_ring(static_cast<std::size_t>(old->capacity()) * 2);
    for (std::int64_t index = top; index < bottom; ++index) {
      // Slots are ordered by the stores of bottom and of the ring; thieves only read the old ones.
      larger->at(index).store(old->at(index).load(std::memory_order_relaxed), std::memory_order_relaxed);
    }
    ring_.store(larger, std::memory_order_release);  // pairs with the load of the ring in take_oldest
    return larger;
  }

  alignas(cache_line_bytes) std::atomic<std::int64_t> top_{0};     // thieves and, for the last element, the owner
  alignas(cache_line_bytes) std::atomic<std::int64_t> bottom_{0};  // the owner
  std::int64_t top_seen_ = 0;  // the owner: top has reached this, so a push need not load the thieves' cache line
  std::atomic<ring*> ring_{nullptr};
  std::vector<std::unique_ptr<ring>> rings_;  // the owner; the last one is in use
};

}  // namespace nacre
