// SPDX-License-Identifier: Apache-2.0
// Where messages for one object arrive, and the right to process them: one atomic word.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <nacre/assert.hpp>
#include <nacre/message.hpp>

namespace nacre {

/// A stack of messages, their number, and the state of the entry's activation, in one word, so that each change is one
/// exchange.
///
/// | state | push | claim | claim_any, begin_idle | finish | requeue | orphan |
/// |---|---|---|---|---|---|---|
/// | idle | scheduled, true: make the entry ready | false (stale item) | running | - | - | true: delete |
/// | scheduled | | running, takes all | running, takes all: its item is stale | - | - | |
/// | running | | false (stale item) | claim_any notes a request | idle, if empty | scheduled: make it ready | |
///
/// A claim_any during `running` leaves a request: until the activation takes the request, `finish` fails as it does for
/// a message. So the running thread sees where the balancer wants the object.
///
/// Invariant: at most one thread is between claim (or claim_any) and finish (or requeue); only that thread touches the
/// state that the entry protects. Orphaned: no new message can come, and the thread that finishes deletes the entry.
class inbox {
 public:
  enum class first : std::uint8_t { idle, running };
  /// `running`: the thread that makes the inbox holds the activation, and gives it back.
  explicit inbox(first state = first::idle) noexcept : word_(state == first::running ? running : idle) {}

  /// Any thread. True: the caller must make the entry ready.
  [[nodiscard]] bool push(message* m) noexcept {
    NACRE_ASSERT((reinterpret_cast<std::uintptr_t>(m) & counted) == 0, "an address has more than 48 bits");
    std::uintptr_t known = word_.load(std::memory_order_relaxed);  // the exchange below decides
    std::uintptr_t wanted = 0;
    do {
      m->next = first_of(known);
      const std::uintptr_t state = (known & state_mask) == idle ? scheduled : known & (state_mask | move_requested);
      const std::uintptr_t count = known < most ? (known & counted) + one : most;
      wanted = reinterpret_cast<std::uintptr_t>(m) | state | (known & orphaned) | count;
      // release: pairs with the acquire of the thread that takes the messages.
    } while (!word_.compare_exchange_weak(known, wanted, std::memory_order_acq_rel, std::memory_order_relaxed));
    return (known & state_mask) == idle;
  }

  /// By the thread that runs the entry's item. False: the item is stale. `taken` gets the messages, oldest first.
  [[nodiscard]] bool claim(message_list& taken) noexcept { return begin(taken, false) != begun::no; }
  enum class begun : std::uint8_t { no, from_idle, from_scheduled };
  /// Takes the activation without an item, for a balancer that moves a waiting object. `no`: the activation runs, and
  /// will not finish without a look at the values that the caller has written before.
  [[nodiscard]] begun claim_any(message_list& taken) noexcept { return begin(taken, true); }
  /// While running: takes the balancer's request; the caller looks at it next.
  void take_move_request() noexcept {
    word_.fetch_and(~move_requested, std::memory_order_acq_rel);  // pairs with the exchange in claim_any
  }

  /// For a thread that brings a message and would run it at once. False: another thread has the activation, push the
  /// message.
  [[nodiscard]] bool begin_idle() noexcept {
    std::uintptr_t known = idle;
    // acquire: pairs with the release in finish.
    return word_.compare_exchange_strong(known, running, std::memory_order_acq_rel, std::memory_order_relaxed);
  }

  /// How many messages wait unclaimed; 65535 stands for that or more. A hint.
  [[nodiscard]] std::uint32_t count() const noexcept {
    return static_cast<std::uint32_t>(word_.load(std::memory_order_relaxed) / one);  // a hint
  }
  /// Calls visit(const message&) for at most `most_visited` of those messages, the newest first. While no thread
  /// claims.
  template <class Visit>
  void visit_waiting(std::size_t most_visited, Visit visit) const {
    // acquire: pairs with the release in push.
    for (const message* m = first_of(word_.load(std::memory_order_acquire)); m != nullptr && most_visited > 0;
         m = m->next, --most_visited) {
      visit(*m);
    }
  }
  /// Whether the entry's activation runs at this moment. A hint.
  [[nodiscard]] bool active() const noexcept {
    return (word_.load(std::memory_order_relaxed) & state_mask) == running;  // a hint
  }

  /// Whether messages wait for an activation that has not begun: the entry is in a scheduler. A hint.
  [[nodiscard]] bool waits() const noexcept {
    return (word_.load(std::memory_order_relaxed) & state_mask) == scheduled;  // a hint
  }

  enum class finished : std::uint8_t { yes, messages_came, orphaned };
  /// While running: gives the activation back.
  [[nodiscard]] finished finish() noexcept {
    std::uintptr_t known = running;
    // release: pairs with the acquire of the next claim.
    if (word_.compare_exchange_strong(known, idle, std::memory_order_acq_rel, std::memory_order_acquire)) {
      return finished::yes;
    }
    return (known & ~move_requested) == (running | orphaned) ? finished::orphaned : finished::messages_came;
  }
  /// While running: the newest message, or null. It stays in the inbox until it is taken.
  [[nodiscard]] const message* newest() const noexcept {
    return first_of(word_.load(std::memory_order_acquire));  // pairs with the release in push
  }
  /// While running: takes the messages, oldest first, and keeps the activation.
  void take(message_list& taken) noexcept {
    std::uintptr_t known = word_.load(std::memory_order_relaxed);  // the exchange below decides
    // acquire: pairs with the release in push.
    while (!word_.compare_exchange_weak(known, known & (state_mask | orphaned), std::memory_order_acq_rel,
                                        std::memory_order_relaxed)) {
    }
    append_reversed(known, taken);
  }

  /// While running: the caller will make the entry ready; messages stay.
  void requeue() noexcept {
    const std::uintptr_t address = word_.fetch_xor(running ^ scheduled, std::memory_order_acq_rel);
    NACRE_ASSERT((address & state_mask) == running, "an activation was given back that nobody had");
  }

  /// Once no thread can find the entry any more. True: it is idle, and the caller deletes it.
  [[nodiscard]] bool orphan() noexcept {
    return (word_.fetch_or(orphaned, std::memory_order_acq_rel) & state_mask) == idle;
  }

 private:
  static constexpr std::uintptr_t idle = 0, scheduled = 1, running = 2, state_mask = 3, orphaned = 4, mask = 15;
  static constexpr std::uintptr_t move_requested = 8;  // only while running, or scheduled by requeue
  // User-space addresses have 48 bits where Nacre runs; the kernel gives wider ones only on request.
  static constexpr std::uintptr_t one = std::uintptr_t{1} << 48, counted = ~(one - 1), most = counted;

  [[nodiscard]] static message* first_of(std::uintptr_t word) noexcept {
    return reinterpret_cast<message*>(word & ~(mask | counted));
  }

  begun begin(message_list& taken, bool also_idle) noexcept {
    std::uintptr_t known = word_.load(std::memory_order_relaxed);  // the exchange below decides
    for (;;) {
      const std::uintptr_t state = known & state_mask;
      if (state == running && also_idle) {
        // release: pairs with take_move_request and claim. Done even when a request is already noted: it may be taken
        // at this moment.
        if (word_.compare_exchange_weak(known, known | move_requested, std::memory_order_acq_rel,
                                        std::memory_order_relaxed)) {
          return begun::no;
        }
        continue;
      }
      if (state == running || (state == idle && !also_idle)) return begun::no;
      // acquire: pairs with the releases in push and finish.
      if (word_.compare_exchange_weak(known, running | (known & orphaned), std::memory_order_acq_rel,
                                      std::memory_order_relaxed)) {
        append_reversed(known, taken);
        return state == idle ? begun::from_idle : begun::from_scheduled;
      }
    }
  }
  static void append_reversed(std::uintptr_t word, message_list& taken) noexcept {
    message* newest = first_of(word);
    message* oldest = nullptr;
    while (newest != nullptr) {
      message* const packet = newest->next;
      newest->next = oldest;
      oldest = newest;
      newest = packet;
    }
    while (oldest != nullptr) {
      message* const later = oldest->next;
      taken.push_back(message_ptr(oldest));
      oldest = later;
    }
  }

  std::atomic<std::uintptr_t> word_;
};

}  // namespace nacre
