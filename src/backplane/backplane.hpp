// SPDX-License-Identifier: Apache-2.0
// The communication component of a rank: one poll loop between the transport and the layers above.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include <nacre/message.hpp>

#include "backplane/peers.hpp"
#include "backplane/poll_duties.hpp"
#include "backplane/poll_lock.hpp"
#include "backplane/send_congestion.hpp"
#include "base/cache_line.hpp"
#include "base/clock.hpp"
#include "transport/transport.hpp"

namespace nacre {

/// Where arrived messages go. Called inside the poll loop: must not block and must not call `progress`.
class message_sink {
 public:
  virtual void deliver(thread_context& thread, message_list& arrived) = 0;
  /// A poll by `thread` begins, was refused, or has delivered its messages: if the thread context has nothing to run,
  /// its collected messages are sent now.
  virtual void flush(thread_context& thread) = 0;
  virtual void peer_failed(const transport::failure& failure) = 0;
  /// In a catch clause: an exception has escaped from a work item, a scheduler or a poll. The job ends, because the
  /// interrupted action stays undone.
  virtual void escaped(thread_context& /*by*/) { throw; }
  /// True when the rank has nothing to run, so that more may come.
  [[nodiscard]] virtual bool idle() const = 0;

 protected:
  ~message_sink() = default;
};

/// Sends for every thread context of the rank, and moves bytes whenever a thread polls (PREMA section 4.1.1: the
/// communication component may be a thread of its own, or a duty that threads share).
///
/// Invariants: one thread at a time polls, under the poll lock `poll_lock_`. Messages of one thread context to one rank
/// on one channel keep their order. Messages wait here while the link is full, while the peer has given no credit
/// (credit_window.hpp), or, where the transport is not thread-safe, while another thread has the poll lock.
class backplane {
 public:
  struct settings {
    std::uint64_t receive_bytes = 256u << 20;  ///< that all peers together may send ahead to a busy rank
    std::uint64_t send_bytes = 64u << 20;      ///< that may wait here before the rank counts as congested
    std::size_t messages_a_poll = 256;         ///< that one poll takes at most
  };
  backplane(std::unique_ptr<transport::endpoint> link, clock& time, const settings& bounds);
  backplane(std::unique_ptr<transport::endpoint> link, clock& time);  // with the bounds above
  ~backplane();

  void attach(message_sink& sink) noexcept { sink_ = &sink; }
  [[nodiscard]] message_sink& sink() const noexcept { return *sink_; }
  [[nodiscard]] rank_id rank() const noexcept { return rank_; }
  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  [[nodiscard]] const transport::capabilities& declared() const noexcept { return declared_; }
  /// Null where the transport has none. Its `copy` and `take_ended` belong inside the poll loop.
  [[nodiscard]] transport::direct_memory* direct() noexcept { return link_->direct(); }
  /// Null where the transport has none. To be used inside the poll loop.
  [[nodiscard]] transport::datagram_service* datagrams() noexcept { return link_->datagrams(); }

  /// Takes a message for any rank, the own one included. Returns at once. Any thread; `thread` is the caller's thread
  /// context, if it has one.
  void send(const thread_context* thread, rank_id target, message_ptr m);
  void send(rank_id target, message_ptr m) { send(nullptr, target, std::move(m)); }

  /// Runs `action` inside the poll loop, at once: if `thread` polls, or if nobody does. Else returns false.
  template <class Action>
  [[nodiscard]] bool run_inside(const thread_context& thread, Action&& action) {
    // relaxed: equal only if this thread has stored it
    if (declared_.virtual_time || holder_.load(std::memory_order_relaxed) == &thread) {
      action();
      return true;
    }
    if (!poll_lock_.try_lock()) return false;
    struct unlocking {
      backplane& self;
      ~unlocking() {
        self.poll_lock_.unlock();
        if (self.listed_.load(std::memory_order_relaxed) != nullptr) self.link_->wake();  // as in send
      }
    } const end{*this};
    action();
    return true;
  }

  /// True while more than send_bytes wait here for credit or for the link: producers should produce less. Any thread.
  [[nodiscard]] bool congested() const noexcept { return congestion_.congested(); }
  /// True while congested and draining; see send_congestion.hpp. Any thread, as a hint.
  [[nodiscard]] bool backpressure() const noexcept { return congestion_.backpressure(); }
  /// The cost of all messages that wait here for credit or for the link. A figure for people and tests.
  [[nodiscard]] std::uint64_t waiting_bytes() const noexcept { return congestion_.waiting_bytes(); }

  /// The cost of all messages that a peer has sent under its credit and that are not released; their bytes, if all have
  /// `message_bytes` as bytes_of counts them. As a hint.
  [[nodiscard]] std::uint64_t held_bytes(rank_id source, channel via, std::uint32_t message_bytes = 0) {
    const std::uint64_t cost = peers_.account(source, via).held();
    if (message_bytes <= sizeof(message_header)) return cost;
    const message_header each{.payload_bytes = message_bytes - static_cast<std::uint32_t>(sizeof(message_header))};
    return cost * message_bytes / due_.prices.cost_of(each);
  }

  /// Polls, if the poll lock is free: sends waiting messages, receives, delivers, runs due timers and poll hooks.
  /// Returns true when anything moved. `thread` is the thread context that runs arriving messages of the communication
  /// category. A poll that is not `thorough` skips failures, timers and hooks. They would delay a message that arrives
  /// between two idle polls, and work that a message has just made ready. A thorough poll comes after each item of
  /// work, after each poll that has moved something, after some idle polls, and before a thread waits.
  bool progress(thread_context& thread, bool thorough = true);

  /// How often a thread has begun to sleep here. A hint for hooks: there is no hurry while it stays the same.
  [[nodiscard]] std::uint64_t waits() const noexcept { return waits_.load(std::memory_order_relaxed); }
  /// Whether the link is full or has something on its way; see endpoint::under_way. Messages that wait for credit do
  /// not count. Inside the poll loop, seconds apart.
  [[nodiscard]] bool under_way() {
    const bool left = link_->under_way();
    return blocked_ || left;
  }

  /// How many polls there have been. Any thread, as a hint.
  [[nodiscard]] std::uint64_t polls() const noexcept { return polls_.load(std::memory_order_relaxed); }

  /// Sleeps until a message may have arrived, `wake` is called, or a timer is due. One thread at a time, also while
  /// another one polls. Returns at once if a poll was refused and no other has begun since: the message that the
  /// refused poll would have taken still waits. Hooks, and timers of add_timer, do not end the sleep before `least` has
  /// passed.
  void wait(std::chrono::nanoseconds timeout, std::chrono::nanoseconds least = std::chrono::nanoseconds::zero());
  void wake() noexcept { link_->wake(); }

  /// Timers, hooks and takers, which run at polls beside the messages. To be added before the first progress.
  [[nodiscard]] poll_duties& duties() noexcept { return duties_; }

  /// Flushes and closes the links to all peers. After the last progress.
  void close(std::chrono::nanoseconds timeout);

 private:
  bool move_messages(thread_context& thread, bool thorough);
  void send_to_self(message_ptr m);
  void pass(rank_id target, message_ptr m);
  void put(outbox& box, message_ptr m);
  void list(outbox& box) noexcept;
  bool flush() {
    // A hint: the next poll sees a box that this one misses.
    return (listed_.load(std::memory_order_relaxed) != nullptr || blocked_) && flush_listed();
  }
  bool flush_listed();
  bool flush_one(outbox& box, bool& blocked);
  void admit(outbox& box);
  void take_own(message_list& arrived);

  void account_for(message_list& arrived);
  void take_credits(message_list& arrived);
  void take_credit(const message& m);
  bool grant_credits();
  void send_credit(rank_id target, channel via, std::uint64_t bytes, bool ask);

  std::unique_ptr<transport::endpoint> link_;
  clock& time_;
  message_sink* sink_ = nullptr;
  rank_id rank_;
  std::uint32_t size_;
  transport::capabilities declared_;
  const std::size_t messages_a_poll_;

  alignas(cache_line_bytes) poll_lock poll_lock_;            // held during flush, poll, deliver, timers
  std::atomic<const thread_context*> holder_{nullptr};       // the polling thread context, or null
  std::atomic<std::uint64_t> polls_{0};                      // written under poll_lock_
  std::atomic<std::uint64_t> waits_{0};                      // written by a waiting thread; a number alone
  std::atomic<bool> refused_{false};                         // a poll was refused since one last began
  std::array<std::vector<outbox*>, channel_count> sending_;  // under poll_lock_: listed boxes, by channel
  bool blocked_ = false;                                     // under poll_lock_: some are listed there
  std::vector<credit_account*> asked_;                       // under poll_lock_: their peers wait for a grant, or did
  poll_duties duties_;

  send_congestion congestion_;
  alignas(cache_line_bytes) std::atomic<outbox*> listed_{nullptr};  // boxes with something to send, linked by next
  alignas(cache_line_bytes) std::atomic<bool> own_waiting_{false};
  std::mutex own_mutex_;
  message_list own_messages_;  // under own_mutex_: to this rank itself
  due_accounts due_;
  peer_table peers_;
};

}  // namespace nacre
