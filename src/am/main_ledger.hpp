// SPDX-License-Identifier: Apache-2.0
// How much the main of a rank has sent within its own process that nobody has digested.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>

#include <nacre/message.hpp>

#include "base/cache_line.hpp"

namespace nacre {

/// Messages that stay in one address space pass no window of credit: they are in the receiver's memory as soon as they
/// are made. Handlers never wait, but mains may, and it is they who flood. So a message that a main sends to its own
/// rank, or by pointer to another one, is held against the main until it is released, wherever that is.
///
/// | held | main | poll loop |
/// |---|---|---|
/// | at most the limit | sends | - |
/// | more | waits before its next send, running other work | more than half: looks again after `patience` |
/// | at most half of it, after more | is woken | - |
/// | nothing was released for `patience` | is woken | raises the limit by a quarter of the bound until half is reached
/// |
///
/// The last line is why nothing deadlocks: messages may wait for what main sends next.
class main_ledger {
 public:
  static constexpr std::chrono::milliseconds patience{1};
  /// Enough for a worker to be busy with until main has been woken, and still in a cache when it gets there.
  static constexpr std::uint64_t worker_bytes = std::uint64_t{2} << 20;

  /// `wake`: makes the poll loop of this rank look; called by any thread.
  main_ledger(std::uint64_t bytes_max, std::function<void()> wake);
  main_ledger(const main_ledger&) = delete;
  main_ledger& operator=(const main_ledger&) = delete;
  ~main_ledger();

  /// `m` counts from now on until it is released, or packed. The application's thread only.
  void hold(message& m);

  /// The main should wait. Any thread, as a hint.
  [[nodiscard]] bool over() const noexcept { return over_.load(std::memory_order_relaxed); }
  /// The main waits, or does not any more: the release that leaves half of the bound wakes. The application's thread.
  void set_waiting(bool waits) noexcept;
  /// Inside the poll loop, while main waits.
  void look(std::chrono::nanoseconds now);
  [[nodiscard]] std::uint64_t held() const noexcept {
    // Before what was sent, which is never less. acquire: pairs with end_of
    const std::uint64_t released = shared_->released.load(std::memory_order_acquire);
    return sent_.load(std::memory_order_relaxed) - released;
  }

 private:
  struct shared;
  /// The operations of one handler's arguments, and what is to be told of their end.
  struct held_ops : body_ops {
    held_ops(const body_ops* of, shared& in) noexcept;
    const body_ops* inner;  // null: packed
    shared& ledger;
  };
  /// Outlives the ledger until the last message is released. What main counts lies elsewhere, so that the two sides
  /// share no line while main has room.
  struct alignas(cache_line_bytes) shared {
    std::atomic<std::uint64_t> released{0};     // bytes ever
    std::atomic<std::uint64_t> wake_at{never};  // main wants to be woken when that much has been released
    std::atomic<std::uint64_t> end_at{never};   // whoever makes it that much deletes this
    std::function<void()> wake;
    std::deque<held_ops> known;  // by the application's thread; messages point into it
    static constexpr std::uint64_t never = ~std::uint64_t{0};
    void release(std::uint64_t bytes) noexcept;
  };
  static void end_of(message& m) noexcept;
  [[nodiscard]] const held_ops& ops_for(const body_ops* inner);

  const std::uint64_t bytes_max_;
  shared* const shared_;
  const held_ops* recent_ = nullptr;        // application's thread
  std::atomic<std::uint64_t> sent_{0};      // bytes ever; written by the application's thread
  std::atomic<std::uint64_t> limit_;        // raised and reset by the poll loop
  std::atomic<bool> over_{false};           // set by the application's thread, cleared by the poll loop
  std::uint64_t seen_ = 0;                  // poll loop: held at the last change
  std::chrono::nanoseconds changed_at_{0};  // poll loop
};

}  // namespace nacre
