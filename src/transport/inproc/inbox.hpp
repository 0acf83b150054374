// SPDX-License-Identifier: Apache-2.0
// The queue of messages for one rank, when all ranks share an address space.
#pragma once

#include <atomic>
#include <chrono>

#include <nacre/message.hpp>

#include "base/cache_line.hpp"
#include "base/parker.hpp"

namespace nacre::transport::inproc {

/// A first-in first-out queue of messages from many senders to one receiver, in which the receiver may sleep.
/// Unbounded: it only links blocks that its senders own already, so the bound is the credit that the layers above give
/// the senders.
///
/// A batch costs its sender one exchange, whatever its length, and a load of the line just written to learn whether the
/// receiver sleeps. The receiver takes all there is with one exchange and then walks it alone.
///
/// | newest | oldest | meaning |
/// |---|---|---|
/// | null | null | empty |
/// | m | null | a push has exchanged and not linked yet: later messages are hidden until it has |
/// | m | f | the run f..m, in which links may still be missing where a push has exchanged and not linked yet |
///
/// Invariants: only the push that found `newest` null writes `oldest`; only the push that found it at m writes m's
/// link, and the receiver gives m away only after it has read that link, or knows that m is the last one it took.
class inbox {
 public:
  inbox() = default;
  inbox(const inbox&) = delete;
  inbox& operator=(const inbox&) = delete;
  /// Releases the messages that are left. No push may be under way.
  ~inbox() { clear(); }

  /// Takes the whole batch. Any thread; wait-free apart from the system call that wakes a sleeper.
  void push(message_list& batch) noexcept {
    if (batch.empty()) return;
    if (closed_.load(std::memory_order_relaxed)) return batch.clear();  // a hint: late ones are released at the end
    const message_list::chain run = batch.release();
    message* const message = newest_.exchange(run.last);
    if (message == nullptr) {
      oldest_.store(run.first, std::memory_order_release);  // pairs with the acquire load in refill
    } else {
      std::atomic_ref(message->next).store(run.first, std::memory_order_release);  // pairs with the acquire load in pop
    }
    // Either this load sees the flag that wait() has set, or wait() sees the exchange above: both are seq_cst.
    if (sleeping_.load() && sleeping_.exchange(false)) parker_.unpark();
  }

  /// Takes the oldest message; null when there is none, or when a push that has not ended hides it. Receiver only.
  [[nodiscard]] message_ptr pop() noexcept {
    message* m = first_.load(std::memory_order_relaxed);  // written by the receiver alone
    if (m == nullptr && (m = refill()) == nullptr) return nullptr;
    message* next = nullptr;
    if (m != last_) {
      next = std::atomic_ref(m->next).load(std::memory_order_acquire);  // pairs with the store in push
      if (next == nullptr) return nullptr;
    }
    first_.store(next, std::memory_order_relaxed);  // wait() only asks whether it is null, and may err
    m->next = nullptr;
    return message_ptr(m);
  }

  /// Sleeps until something is pushed, wake() is called, or the time is over. May return early. One thread at a time,
  /// which need not be the receiver.
  void wait(std::chrono::nanoseconds timeout) {
    if (first_.load(std::memory_order_relaxed) != nullptr) return;  // an early return is no harm; a late one cannot be
    sleeping_.store(true);
    if (newest_.load() == nullptr) parker_.park_for(timeout);
    sleeping_.store(false, std::memory_order_relaxed);  // a push that still sees true wakes once in vain
  }

  /// Ends the wait of the receiver, the next one if there is none now. Any thread.
  void wake() noexcept { parker_.unpark(); }

  /// Releases all messages, and from now on those that are pushed. Receiver only.
  void close() noexcept {
    closed_.store(true, std::memory_order_relaxed);
    clear();
  }

 private:
  /// Takes the senders' whole run as the receiver's own and returns its first message; null when none is visible.
  message* refill() noexcept {
    message* const first = oldest_.load(std::memory_order_acquire);  // pairs with the release store in push
    if (first == nullptr) return nullptr;
    __builtin_prefetch(first, 1);  // comes while the exchange waits for the line, past which no load can go
    oldest_.store(nullptr, std::memory_order_relaxed);  // before the exchange, whose release the next push acquires
    first_.store(first, std::memory_order_relaxed);     // see wait
    last_ = newest_.exchange(nullptr, std::memory_order_acq_rel);  // pairs with the exchange in push
    return first;
  }

  void clear() noexcept {
    while (pop() != nullptr) continue;
  }

  // One cache line for all fields that a hand-over touches: it moves once from the sender and once to the receiver.
  alignas(cache_line_bytes) std::atomic<message*> newest_{nullptr};
  std::atomic<message*> oldest_{nullptr};
  std::atomic<bool> sleeping_{false};
  std::atomic<bool> closed_{false};
  // The receiver's own.
  alignas(cache_line_bytes) std::atomic<message*> first_{nullptr};
  message* last_ = nullptr;
  alignas(cache_line_bytes) parker parker_;
};

}  // namespace nacre::transport::inproc
