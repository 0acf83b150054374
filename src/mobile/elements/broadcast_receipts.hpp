// SPDX-License-Identifier: Apache-2.0
// Receipts for messages to all elements and to sections, by which a main that floods arrays is made to wait.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include <nacre/message.hpp>
#include <nacre/runtime.hpp>

#include "am/am_engine.hpp"
#include "am/main_send_window.hpp"
#include "am/request_slots.hpp"

namespace nacre {

/// A message to all elements, or to a section, is taken by the poll loop at once, and waits as copies for busy
/// elements. So no window of credit bounds it. It takes room in main's window (main_send_window) instead, as many bytes
/// as it may need on one rank, until a receipt says that none of it waits any more.
///
/// | what happens | at the sender | at a rank that gets the message |
/// |---|---|---|
/// | main sends | room is taken; an eighth of the window is without receipts: the message asks for one | - |
/// | it comes, and asks | - | its copies are counted; an array's message asks the ranks below, too |
/// | a copy ends | - | after the last one, and the receipts of the ranks below: the receipt is sent |
/// | the receipt comes | room of this message, and of those that it stands for, is given back | - |
///
/// A receipt stands for all messages before it to the same array; to sections, for all to the same rank. Invariant:
/// when it comes none of them waits on the ranks that it is from. For arrays that follows from the order in which each
/// place gets messages to all; for sections the copies of all messages since the last receipt are counted together.
///
/// Messages of handlers, and all those under simulation, take no room. Copies that the transport takes to another
/// process, behind elements that have moved, end here, and are under credit from there on.
class broadcast_receipts {
 public:
  /// Counts the copies of messages that one receipt is for.
  class copies;
  /// A share in `copies`: the receipt is not sent while a share exists.
  class copies_share {
   public:
    copies_share() = default;
    explicit copies_share(copies& counted) noexcept;
    copies_share(copies_share&& other) noexcept : counted_(std::exchange(other.counted_, nullptr)) {}
    copies_share& operator=(copies_share&& other) noexcept {
      std::swap(counted_, other.counted_);
      return *this;
    }
    ~copies_share();
    /// Counts `m`, which is packed, as a copy: the receipt is not sent before `m` is released.
    void count(message& m) const noexcept;

   private:
    copies* counted_ = nullptr;  // null: nothing is counted
  };

  explicit broadcast_receipts(am_engine& messages);
  ~broadcast_receipts();
  broadcast_receipts(const broadcast_receipts&) = delete;
  broadcast_receipts& operator=(const broadcast_receipts&) = delete;

  // At the sender.
  /// The messages that one receipt can stand for.
  enum class target : std::uint8_t { array, sections_on_rank };
  /// `thread` sends a message of so many bytes to the array, or the rank, of this number. Returns the number of the
  /// receipt that the message must ask for; 0: none.
  [[nodiscard]] std::uint64_t take(const thread_context& thread, target kind, std::uint64_t number,
                                   std::uint64_t bytes);
  /// The array has ended, and nothing that was sent to it waits.
  void forget_array(std::uint64_t first);

  // At a rank that gets messages.
  /// A message to all elements asks for a receipt. Opens one that needs `count` receipts itself, one of which is that
  /// of count_copies.
  [[nodiscard]] std::uint64_t open(rank_id sender, std::uint64_t receipt, std::uint32_t count);
  [[nodiscard]] copies_share count_copies(std::uint64_t receipt);
  /// A message of another rank's main to a section. `receipt`: it asks for; 0: none. Inside the poll loop only.
  [[nodiscard]] copies_share count_section(rank_id sender, std::uint64_t receipt);
  /// Sends a receipt now.
  void send(thread_context& thread, rank_id sender, std::uint64_t receipt);
  /// Inside the poll loop: sends the receipts that are due.
  void poll(thread_context& thread) {
    if (box_->any.load(std::memory_order_relaxed)) send_due(thread);  // the push wakes the poll loop behind its store
  }

  /// A handler that other ranks call.
  void on_receipt(context& ctx, std::uint64_t receipt);

 private:
  /// The receipts that are due. Copies may end when the rank is no more.
  struct outbox {
    std::atomic<bool> any{false};
    std::mutex mutex;
    copies* first = nullptr;  // under mutex
    am_engine* owner;         // under mutex; null: the rank is no more
    explicit outbox(am_engine& messages) noexcept : owner(&messages) {}
    void push(copies& done) noexcept;
  };
  /// The room of a window for messages without receipts.
  struct unasked {
    std::map<std::pair<target, std::uint64_t>, main_send_window::room> rooms;
    std::uint64_t bytes = 0;
  };
  struct awaited {
    std::uint32_t left = 0;     // receipts
    std::uint32_t sender = 0;   // rank that has asked
    std::uint64_t receipt = 0;  // of that rank; 0: this one has asked itself
    main_send_window::room held{};
  };
  void send_due(thread_context& thread);
  [[nodiscard]] bool count_down(thread_context& thread, std::uint64_t receipt);

  am_engine& messages_;
  const std::shared_ptr<outbox> box_;
  std::mutex mutex_;
  std::unordered_map<const main_send_window*, unasked> unasked_;  // under mutex_
  request_slots<awaited> awaited_;                                // under mutex_
  std::map<std::uint32_t, copies*> of_sections_;                  // poll loop: by sender, without a receipt so far
};

}  // namespace nacre
