// SPDX-License-Identifier: Apache-2.0
// Where messages for one object arrive, and the right to process them: one atomic word.
#pragma once

#include <atomic>
#include <cstdint>

#include <nacre/assert.hpp>
#include <nacre/message.hpp>

namespace nacre {

/// A stack of messages, how many they are, and the state of the entry's activation, in one word, so that each change is
/// one exchange.
///
/// | state | push | claim | seize, begin_idle | finish | requeue | orphan |
/// |---|---|---|---|---|---|---|
/// | idle | scheduled, true: put a ticket into the scheduler | false (stale ticket) | running | - | - | true: delete |
/// | scheduled | | running, takes all | running, takes all: its ticket is stale | - | - | |
/// | running | | false (stale ticket) | seize notes a wish | idle, if nothing has come | scheduled: put a ticket | |
///
/// A seizure that comes too late is a wish: until the activation has taken it, it keeps from finishing as a message
/// does, so that whoever runs looks once more at what the balancer wants.
///
/// Invariant: at most one lane is between claim (or seize) and finish (or requeue); only it touches what the entry
/// protects. Orphaned: no new message can come; whoever finishes deletes the entry.
class inbox {
 public:
  enum class first : std::uint8_t { idle, running };
  /// `running`: whoever makes the inbox has the right, and gives it back.
  explicit inbox(first state = first::idle) noexcept : word_(state == first::running ? running : idle) {}

  /// Any lane. True: the caller must make the entry ready.
  [[nodiscard]] bool push(message* m) noexcept {
    NACRE_ASSERT((reinterpret_cast<std::uintptr_t>(m) & counted) == 0, "an address has more than 48 bits");
    std::uintptr_t known = word_.load(std::memory_order_relaxed);  // the exchange below decides
    std::uintptr_t wanted = 0;
    do {
      m->next = first_of(known);
      const std::uintptr_t state = (known & state_mask) == idle ? scheduled : known & (state_mask | wished);
      const std::uintptr_t count = known < most ? (known & counted) + one : most;
      wanted = reinterpret_cast<std::uintptr_t>(m) | state | (known & orphaned) | count;
      // release: pairs with the acquire of whoever takes the messages.
    } while (!word_.compare_exchange_weak(known, wanted, std::memory_order_acq_rel, std::memory_order_relaxed));
    return (known & state_mask) == idle;
  }

  /// By the lane that runs a ticket. False: the ticket is stale. `taken` holds the messages, oldest first.
  [[nodiscard]] bool claim(message_list& taken) noexcept { return begin(taken, false) != begun::no; }
  enum class begun : std::uint8_t { no, from_idle, from_scheduled };
  /// Without a ticket, for a balancer that moves a waiting object. `no`: the activation runs, and will not finish
  /// without a look at what the caller has written before.
  [[nodiscard]] begun seize(message_list& taken) noexcept { return begin(taken, true); }
  /// While running: a look at the balancer's wish follows.
  void take_wish() noexcept {
    word_.fetch_and(~wished, std::memory_order_acq_rel);  // pairs with the exchange in seize
  }

  /// For whoever brings a message and would run it at once. False: somebody else will, push it.
  [[nodiscard]] bool begin_idle() noexcept {
    std::uintptr_t known = idle;
    // acquire: pairs with the release in finish.
    return word_.compare_exchange_strong(known, running, std::memory_order_acq_rel, std::memory_order_relaxed);
  }

  /// How many messages have come that nobody has claimed; from 65535 on that. A hint.
  [[nodiscard]] std::uint32_t count() const noexcept {
    return static_cast<std::uint32_t>(word_.load(std::memory_order_relaxed) / one);  // a hint
  }
  /// Calls visit(const message&) for at most `most_visited` of those messages, the newest first. While nobody claims.
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

  /// Whether messages wait for an activation that has not begun: a ticket of the entry is on its way. A hint.
  [[nodiscard]] bool waits() const noexcept {
    return (word_.load(std::memory_order_relaxed) & state_mask) == scheduled;  // a hint
  }

  enum class finished : std::uint8_t { yes, messages_came, orphaned };
  /// While running: gives the right back.
  [[nodiscard]] finished finish() noexcept {
    std::uintptr_t known = running;
    // release: pairs with the acquire of the next claim.
    if (word_.compare_exchange_strong(known, idle, std::memory_order_acq_rel, std::memory_order_acquire)) {
      return finished::yes;
    }
    return (known & ~wished) == (running | orphaned) ? finished::orphaned : finished::messages_came;
  }
  /// While running: what has come last, or null. It stays here until somebody takes it.
  [[nodiscard]] const message* newest() const noexcept {
    return first_of(word_.load(std::memory_order_acquire));  // pairs with the release in push
  }
  /// While running: takes what has come, oldest first, and keeps the right.
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
    const std::uintptr_t before = word_.fetch_xor(running ^ scheduled, std::memory_order_acq_rel);
    NACRE_ASSERT((before & state_mask) == running, "an activation was given back that nobody had");
  }

  /// Once no lane can find the entry any more. True: it is idle, and the caller deletes it.
  [[nodiscard]] bool orphan() noexcept {
    return (word_.fetch_or(orphaned, std::memory_order_acq_rel) & state_mask) == idle;
  }

 private:
  static constexpr std::uintptr_t idle = 0, scheduled = 1, running = 2, state_mask = 3, orphaned = 4, mask = 15;
  static constexpr std::uintptr_t wished = 8;  // only while running, or scheduled by requeue
  // Addresses of programs have 48 bits where Nacre runs; wider ones are only given to who asks for them.
  static constexpr std::uintptr_t one = std::uintptr_t{1} << 48, counted = ~(one - 1), most = counted;

  [[nodiscard]] static message* first_of(std::uintptr_t word) noexcept {
    return reinterpret_cast<message*>(word & ~(mask | counted));
  }

  begun begin(message_list& taken, bool also_idle) noexcept {
    std::uintptr_t known = word_.load(std::memory_order_relaxed);  // the exchange below decides
    for (;;) {
      const std::uintptr_t state = known & state_mask;
      if (state == running && also_idle) {
        // release: pairs with take_wish and claim. Also when there is a wish: it may be taken at this moment.
        if (word_.compare_exchange_weak(known, known | wished, std::memory_order_acq_rel, std::memory_order_relaxed)) {
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
      message* const before = newest->next;
      newest->next = oldest;
      oldest = newest;
      newest = before;
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
