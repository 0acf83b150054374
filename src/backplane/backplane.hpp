// SPDX-License-Identifier: Apache-2.0
// The communication component of a rank: one poll loop between the transport and the layers above.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include <nacre/message.hpp>

#include "base/cache_line.hpp"
#include "base/clock.hpp"
#include "transport/transport.hpp"

namespace nacre {

/// Where arrived messages go. Called inside the poll loop: must not block and must not call `progress`.
class message_sink {
 public:
  virtual void deliver(lane& by, message_list& arrived) = 0;
  virtual void peer_failed(const transport::failure& what) = 0;

 protected:
  ~message_sink() = default;
};

/// Sends for every lane of the rank, and moves bytes whenever some lane takes its turn (PREMA section 4.1.1: the
/// communication component may be a thread of its own, or a duty that threads share).
///
/// Order: messages of one lane to one rank keep their order. Messages wait here while the link is full, or, where the
/// transport is not thread-safe, until the next turn, at most `flush_bound` when lanes go on sending.
class backplane {
 public:
  backplane(std::unique_ptr<transport::endpoint> link, clock& time);
  ~backplane();

  void attach(message_sink& sink) noexcept { sink_ = &sink; }
  [[nodiscard]] rank_id rank() const noexcept { return rank_; }
  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  [[nodiscard]] const transport::capabilities& declared() const noexcept { return declared_; }

  /// Takes a message for any rank, the own one included. Returns at once. Any lane.
  void send(rank_id to, message_ptr m);

  /// Takes the turn if nobody has it: sends what waits, receives, delivers, runs due timers and poll hooks. Returns
  /// true when anything moved. `by` is the lane that runs what arrives for the communication category.
  bool progress(lane& by);

  /// Sleeps until a message may have arrived, `wake`, or a timer is due. One lane at a time; beside anybody's progress.
  /// Returns at once when a turn was refused and none has begun since: what the refused one was woken for still waits.
  void wait(std::chrono::nanoseconds timeout);
  void wake() noexcept { link_->wake(); }

  /// Runs `action` inside the poll loop after `first`, and then again after whatever time it returns. Before the first
  /// progress only.
  void add_timer(std::chrono::nanoseconds first, std::function<std::chrono::nanoseconds(lane&)> action);
  /// Runs `action` at every turn; it must be cheap. It returns when, on the clock, the next turn is needed at the
  /// latest; nanoseconds::max() when it can wait for whatever moves next. Before the first progress only.
  void add_poll_hook(std::function<std::chrono::nanoseconds(lane&)> action) { hooks_.push_back(std::move(action)); }
  /// When the next timer or poll hook is due; nanoseconds::max() when none is. Any thread.
  [[nodiscard]] std::chrono::nanoseconds next_due() const noexcept {
    return std::chrono::nanoseconds(next_due_ns_.load(std::memory_order_acquire));  // pairs with run_due
  }

  /// Flushes and says goodbye to all peers. After the last progress.
  void close(std::chrono::nanoseconds timeout);

 private:
  struct alignas(cache_line_bytes) outbox {
    std::mutex mutex;
    message_list waiting;  // under mutex
  };
  struct timer {
    std::chrono::nanoseconds due;
    std::function<std::chrono::nanoseconds(lane&)> action;
  };
  static constexpr std::chrono::microseconds flush_bound{50};
  static constexpr std::size_t messages_a_turn = 256;

  bool flush();
  void run_due(lane& by);
  void run_timers(lane& by);

  std::unique_ptr<transport::endpoint> link_;
  clock& time_;
  message_sink* sink_ = nullptr;
  rank_id rank_;
  std::uint32_t size_;
  transport::capabilities declared_;

  alignas(cache_line_bytes) std::atomic_flag turn_;                    // held during flush, poll, deliver, timers
  std::atomic<bool> refused_{false};                                   // somebody wanted the turn since its last begin
  std::vector<timer> timers_;                                          // under turn_
  std::chrono::nanoseconds timers_due_;                                // under turn_: the earliest of them
  std::vector<std::function<std::chrono::nanoseconds(lane&)>> hooks_;  // under turn_
  std::atomic<std::int64_t> next_due_ns_;  // of timers and hooks; written under turn_, read by wait
  std::uint64_t flush_bound_ticks_;
  std::atomic<std::uint64_t> flushed_at_ticks_{0};
  alignas(cache_line_bytes) std::atomic<std::size_t> waiting_{0};  // messages in all outboxes
  std::vector<outbox> outboxes_;                                   // by rank; the own one is the loopback
};

}  // namespace nacre
