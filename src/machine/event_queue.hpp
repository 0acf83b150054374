// SPDX-License-Identifier: Apache-2.0
// The events of a simulated machine, earliest first; events of equal time come in an order drawn from a seed.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <nacre/assert.hpp>
#include <nacre/rng.hpp>

namespace nacre::machine {

/// The function that an event runs: a plain function on a subject, with one word as its argument.
using action = void (*)(void* subject, std::uint64_t argument);

/// An event at one instant of virtual time. Plain data: the queue copies it and never owns the subject.
struct event {
  std::uint64_t when_ns = 0;
  action run = nullptr;
  void* subject = nullptr;
  std::uint64_t argument = 0;
};

/// A priority queue for times that never go back: no pushed time may be before the time popped last.
///
/// A radix heap (Ahuja, Mehlhorn, Orlin and Tarjan, 1990) with digits of six bits, which is also the shape of a
/// hierarchical timing wheel (Varghese and Lauck, 1987). `base` is the time popped last:
///
/// | an event whose time ... | is kept in |
/// |---|---|
/// | equals base | current_, from which each pop chooses at random |
/// | first differs from base in digit d, where it has the value v | slot (d, v) |
///
/// Invariant: no event is before base. So in every digit the occupied slots lie above base's own value, and the lowest
/// slot of the lowest occupied digit holds the earliest event. An event moves at most once for each digit. Push and pop
/// take constant time for times within a bounded distance. Memory is 32 bytes an event and one partly filled chunk a
/// slot; chunks come from a free list. Single-threaded.
class event_queue {
 public:
  /// `choice` decides among events of equal time. The order depends on `choice` and on the pushes, never on addresses.
  explicit event_queue(rng choice) noexcept : choice_(choice) {}
  event_queue(const event_queue&) = delete;
  event_queue& operator=(const event_queue&) = delete;

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  /// The time popped last; 0 at first.
  [[nodiscard]] std::uint64_t base_ns() const noexcept { return base_ns_; }

  /// Adds an event at base_ns() or later; aborts for an earlier one.
  void push(const event& added) {
    NACRE_EXPECT(added.when_ns >= base_ns_, "an event cannot happen before the present");
    ++size_;
    place(added);
  }

  /// Takes the earliest event, and makes its time the base. The queue must not be empty.
  [[nodiscard]] event pop() {
    NACRE_EXPECT(size_ != 0, "the queue is empty");
    if (current_.empty()) refill();
    if (current_.size() > 1) std::swap(current_[choice_.below(current_.size())], current_.back());
    const event earliest = current_.back();
    current_.pop_back();
    --size_;
    return earliest;
  }

 private:
  static constexpr unsigned digit_bits = 6;
  static constexpr unsigned digits = (64 + digit_bits - 1) / digit_bits;
  static constexpr std::size_t slots = std::size_t{1} << digit_bits;

  struct chunk {
    static constexpr std::size_t capacity = 31;  // a kibibyte
    chunk* next = nullptr;
    std::size_t count = 0;
    std::array<event, capacity> events;
  };

  void place(const event& added) {
    const std::uint64_t difference = added.when_ns ^ base_ns_;
    if (difference == 0) {
      current_.push_back(added);
      return;
    }
    const unsigned digit = (static_cast<unsigned>(std::bit_width(difference)) - 1) / digit_bits;
    const std::size_t value = (added.when_ns >> (digit * digit_bits)) & (slots - 1);
    chunk*& head = heads_[digit][value];
    if (head == nullptr || head->count == chunk::capacity) head = prepend(head, digit, value);
    head->events[head->count++] = added;
  }

  void refill();
  [[nodiscard]] chunk* prepend(chunk* head, unsigned digit, std::size_t value);
  void grow();

  std::uint64_t base_ns_ = 0;
  std::size_t size_ = 0;
  std::vector<event> current_;
  std::uint32_t occupied_digits_ = 0;
  std::array<std::uint64_t, digits> occupied_slots_{};
  std::array<std::array<chunk*, slots>, digits> heads_{};
  chunk* free_ = nullptr;
  std::vector<std::unique_ptr<chunk[]>> blocks_;
  rng choice_;
};

}  // namespace nacre::machine
