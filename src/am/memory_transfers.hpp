// SPDX-License-Identifier: Apache-2.0
// The transfers that a rank has begun, cut into pieces, without I/O.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <boost/smart_ptr/intrusive_ptr.hpp>

#include <nacre/memory.hpp>

#include "am/memory_segments.hpp"
#include "am/request_slots.hpp"
#include "base/linked_list.hpp"
#include "transport/direct_memory.hpp"

namespace nacre {

/// One put or get: the state of its future, and the caller's memory until the caller takes that back.
class memory_transfer final : public detail::future_value<void> {
 public:
  using intent = memory_segments::intent;
  struct plan {
    detail::memory_name name;
    intent direction = intent::read;
    std::uint64_t offset = 0;           ///< bytes into the segment
    std::span<std::byte> local_memory;  ///< the caller's memory; its size is the transfer's
  };
  explicit memory_transfer(const plan& transfer_plan) noexcept
      : plan_(transfer_plan), local_memory_(transfer_plan.local_memory.data()) {}

  [[nodiscard]] const detail::memory_name& name() const noexcept { return plan_.name; }
  [[nodiscard]] rank_id target() const noexcept { return rank_id(plan_.name.rank); }
  [[nodiscard]] intent what() const noexcept { return plan_.direction; }
  [[nodiscard]] std::uint64_t offset() const noexcept { return plan_.offset; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return plan_.local_memory.size(); }

  /// Calls `use` with the first byte of the caller's memory. False: the caller has taken it back by dropping the
  /// future. Dropping the future waits while `use` runs. Any thread.
  template <class Use>
  [[nodiscard]] bool with_own_memory(Use&& use) {
    const std::scoped_lock lock(guard_);
    if (!has_own_memory_) return false;
    use(local_memory_);
    return true;
  }
  [[nodiscard]] bool has_own_memory() const {
    const std::scoped_lock lock(guard_);
    return has_own_memory_;
  }
  /// Registers a piece for the target, which copies it by itself; nothing when the caller has taken its memory back, or
  /// the transport cannot register it. This and the following functions: any thread.
  [[nodiscard]] std::optional<transport::registered_region> register_region(transport::direct_memory& direct_memory,
                                                                            std::uint64_t index, std::uint64_t bytes);
  /// Deregisters an answered piece. Returns when the target does not touch it.
  void deregister(const transport::registered_region& piece);
  /// Nothing touches the caller's memory any more.
  void deregister_all() noexcept;

  /// Makes the future ready, with an error unless `status` is done. Once.
  void end(memory_status status, thread_context& thread);

 private:
  friend class memory_transfers;
  friend class linked_list<memory_transfer>;
  void on_abandon() noexcept override {
    if (!outlives_job()) deregister_all();
  }

  const plan plan_;
  mutable std::mutex guard_;
  std::byte* const local_memory_;                      // touched under guard_ while has_own_memory_
  bool has_own_memory_ = true;                         // under guard_
  std::vector<transport::registered_region> regions_;  // under guard_
  transport::direct_memory* direct_ = nullptr;         // under guard_; set while any piece is registered
  // Members below belong to memory_transfers.
  std::uint64_t piece_bytes_max_ = 0;
  std::uint64_t sent_ = 0;          // bytes in pieces that have left
  std::uint32_t outstanding_ = 0;   // pieces without a reply
  bool queued_ = true;              // it may have more pieces to send
  memory_transfer* next = nullptr;  // in the queue, as the other
  memory_transfer* previous = nullptr;
  memory_status status_ = memory_status::done;
};

/// Keeps a transfer alive. The sender of a piece holds one, because the reply may come, and end the transfer, before
/// the call that sends the piece returns.
using transfer_ref = boost::intrusive_ptr<memory_transfer>;
inline void intrusive_ptr_add_ref(memory_transfer* transfer) noexcept { transfer->acquire(); }
inline void intrusive_ptr_release(memory_transfer* transfer) noexcept { transfer->release(); }

/// The transfers of one rank to others.
///
/// | a transfer | reaches the queue's front | reply | last reply | error in a reply | future dropped |
/// |---|---|---|---|---|---|
/// | queued | sends a piece; the last one: draining | stays | stays | draining | draining at the queue's front |
/// | draining | - | stays | over | stays | stays |
///
/// The queue to one rank is round-robin: each transfer sends one piece and goes to the back, as long as the window to
/// that rank has room, so that a short transfer does not wait for a long one. The window: pieces without a reply may
/// cost `window_bytes` together, each its bytes and `piece_cost`; any piece fits into an empty one. An empty transfer
/// is one empty piece, so that it is checked as well.
///
/// Invariants. Either all pieces of a transfer are inside the memory or none is written: every piece names the whole
/// range of its transfer, and the target checks that range. A token is a request id (request_slots.hpp), so a forged or
/// repeated reply finds nothing. A transfer is over exactly when each piece that has left is answered and none is to
/// leave, so when the last byte is in place. Threads: one at a time, all calls.
class memory_transfers {
 public:
  static constexpr std::uint64_t piece_bytes_max = 63 * 1024;  // with its headers below the 64 KiB that pools hold
  /// Of transfers that the target copies by itself: a quarter of the window, with its cost, in whole pages.
  static constexpr std::uint64_t direct_bytes_max = 252 * 1024;
  static constexpr std::uint64_t window_bytes = 1u << 20;
  static constexpr std::uint64_t piece_cost = 256;
  static_assert(direct_bytes_max + piece_cost <= window_bytes && piece_bytes_max <= direct_bytes_max);

  /// The way of the bytes of a get.
  enum class data_path : std::uint8_t {
    reply,  ///< the reply carries them
    shared  ///< ranks share their addresses: the target has put them in place before it replies
  };
  explicit memory_transfers(data_path path) noexcept : path_(path) {}
  memory_transfers(const memory_transfers&) = delete;
  memory_transfers& operator=(const memory_transfers&) = delete;

  struct piece {
    std::uint64_t token = 0;
    transfer_ref transfer;
    std::uint64_t offset = 0;  ///< from the beginning of the transfer
    std::uint64_t bytes = 0;
    std::optional<transport::registered_region> region{};  ///< the target copies it by itself
  };

  /// Queues a transfer.
  void start(memory_transfer& begun, std::uint64_t piece_bytes = piece_bytes_max);
  /// The next piece that may leave for `target`, or none.
  [[nodiscard]] std::optional<piece> next(rank_id target);
  /// The piece is registered for the target, so its reply carries no bytes. Does nothing when the piece is answered
  /// already, as by a peer that lies.
  void note_region(const piece& leaving, const transport::registered_region& as);
  /// A piece that was answered leaves once more, not registered, under a new token.
  void resend(piece& answered);
  /// The piece that a reply from `source` answers; it leaves the window. None: no such piece waits for `source`, or a
  /// reply to it does not carry `data_bytes` bytes. It carries none for a put, a registered piece or an error, else the
  /// bytes asked for.
  [[nodiscard]] std::optional<piece> take_reply(rank_id source, std::uint64_t token, memory_status status,
                                                std::uint64_t data_bytes);
  /// The bytes of an answered piece are in place. Returns the transfer's status if it is over: end it.
  [[nodiscard]] std::optional<memory_status> complete(const piece& answered, memory_status status);

  /// The transfers that were dropped before their first piece, and so are over: end each.
  [[nodiscard]] std::vector<transfer_ref> take_dropped() { return std::exchange(dropped_, {}); }

  /// Deregisters the memory of all transfers; their futures may live on.
  void deregister_all() {
    for (const transfer_ref& each : open_) each->deregister_all();
  }

  /// Transfers that are not over.
  [[nodiscard]] std::size_t open() const noexcept { return open_.size(); }
  /// Pieces without a reply.
  [[nodiscard]] std::size_t in_flight() const noexcept { return waiting_.count(); }

 private:
  struct path_to_rank {
    linked_list<memory_transfer> queue;
    std::uint64_t cost = 0;  // of the pieces in flight
  };

  const data_path path_;
  std::unordered_map<std::uint32_t, path_to_rank> targets_;
  request_slots<piece> waiting_;  // pieces without a reply; their ids are the tokens
  std::unordered_set<transfer_ref> open_;
  std::vector<transfer_ref> dropped_;
};

}  // namespace nacre
