// SPDX-License-Identifier: Apache-2.0
// Credits: how much a rank may send to a peer that has not finished earlier messages.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include <nacre/assert.hpp>
#include <nacre/ids.hpp>
#include <nacre/message.hpp>

#include "base/cache_line.hpp"

namespace nacre {

/// # Flow control
///
/// Every pair of ranks has, for each channel but `system`, a window of bytes. A message spends its cost when it leaves
/// the sender and holds it until the receiver frees its block, wherever it waits until then: in the scheduler's queue,
/// in an object's inbox, or set aside. Messages that exceed the window wait in the sender's outbox.
///
/// | at the sender | | at the receiver | |
/// |---|---|---|---|
/// | the window admits the next message | it leaves | a message arrives | it holds its cost |
/// | it does not | ask, once for each grant | a block is freed | its cost is released |
/// | a grant arrives | the window opens by it | a quarter of a window has been released | grant it |
/// | | | asked, and the rank has nothing to run | grant all that has arrived |
///
/// A request for credit overtakes messages sent before it. So it carries the total spent. The receiver keeps it until
/// it has granted that total, or anything at all.
///
/// The last row is why nothing deadlocks. Messages that wait for other messages (set aside until an earlier one comes,
/// or before an object with a coroutine that waits for a reply) may hold all of a window, and the messages that they
/// wait for may be behind it. A rank that has nothing to run is not overrun, so it lets more come. Replies and
/// forwarded messages need no credit: the number of calls bounds the replies, and a rank passes a forwarded message on
/// and never keeps it.
///
/// A message of any size leaves while at most half of the window is spent. The receiver keeps back less than a quarter,
/// so no message waits for a grant that the receiver, which has digested everything, has no reason to send.
///
/// Bound: a busy rank holds at most one window for each peer and channel, or half of one and a message that is larger
/// than the other half.
/// After: credits of the link layer in InfiniBand, and the sliding windows of DVCM, section 2.
inline constexpr std::uint64_t window_bytes_min = 1024;
/// A larger window makes nothing faster: this one holds a few messages of 1 MiB, and what it holds should stay in a
/// cache.
inline constexpr std::uint64_t window_bytes_max = std::uint64_t{4} << 20;
/// The window of one channel to one peer, where a rank is to hold at most about `receive_bytes` of all peers. All ranks
/// compute one value, because they share their configuration.
[[nodiscard]] constexpr std::uint64_t window_bytes_of(std::uint64_t receive_bytes, std::uint32_t ranks) noexcept {
  constexpr std::uint64_t channels_with_credit = channel_count - 1;
  const std::uint64_t share = receive_bytes / (channels_with_credit * std::max(ranks - 1, 1u));
  return std::clamp(share, window_bytes_min, window_bytes_max);
}

/// One channel of one peer, as a number.
[[nodiscard]] constexpr std::uint32_t peer_key(rank_id peer, channel via) noexcept {
  static_assert(channel_count <= 4);
  return peer.value() << 2 | static_cast<std::uint32_t>(via);
}

/// The bytes of a message, header included. A bundle has as many as its parts together, so that it can be taken apart.
[[nodiscard]] inline std::uint64_t bytes_of(const message_header& header) noexcept {
  if (header.kind == message_kind::bundle) return header.payload_bytes;
  return sizeof(message_header) + ((std::uint64_t{header.payload_bytes} + 7) & ~std::uint64_t{7});
}

/// Value of `object` in the header of a bundle whose parts the receiver runs in place, one after the other. Any other
/// bundle is taken apart when it arrives.
inline constexpr std::uint64_t bundle_stays_whole = 1;

/// The prices of messages in windows of one size. In a large window a small message costs several times its bytes, for
/// the sake of bundles that the receiver takes apart: their parts take twice their bytes, wait long, and run faster if
/// all of them fit in a cache. Long messages, and bundles that stay whole, need the large window. All ranks have
/// windows of one size, so they agree.
class message_prices {
 public:
  static constexpr std::uint64_t window_of_small = std::uint64_t{512} << 10;  ///< as many bytes of small messages
  static constexpr std::uint64_t small_bytes_max = std::uint64_t{33} << 10;   ///< the largest part of a bundle has less

  explicit constexpr message_prices(std::uint64_t window_bytes) noexcept
      : factor_(std::max<std::uint64_t>(window_bytes / window_of_small, 1)) {}
  /// A bundle to be taken apart costs as much as its parts together, which are small.
  [[nodiscard]] std::uint64_t cost_of(const message_header& header) const noexcept {
    const std::uint64_t bytes = bytes_of(header);
    if (header.kind != message_kind::bundle) return bytes + (factor_ - 1) * std::min(bytes, small_bytes_max);
    return header.object == bundle_stays_whole ? bytes : factor_ * bytes;
  }

 private:
  std::uint64_t factor_;
};
[[nodiscard]] inline bool needs_credit(const message_header& header) noexcept {
  return header.channel != channel::system && header.kind != message_kind::reply && header.hops == 0;
}

/// The sender's side of one channel to one peer. One thread at a time.
class credit_window {
 public:
  explicit credit_window(std::uint64_t bytes) noexcept : limit_(bytes) {}
  [[nodiscard]] bool admits(std::uint64_t cost) const noexcept {
    return spent_ <= limit_ / 2 || spent_ + cost <= limit_;
  }
  void spend(std::uint64_t cost) noexcept {
    spent_ += cost;
    total_ += cost;
  }
  /// False: more than was spent, so the peer has lied; nothing changes.
  [[nodiscard]] bool restore(std::uint64_t bytes) noexcept {
    if (bytes > spent_) return false;
    spent_ -= bytes;
    return true;
  }
  /// All bytes ever spent; in the end as many have arrived at the receiver.
  [[nodiscard]] std::uint64_t total() const noexcept { return total_; }

 private:
  std::uint64_t limit_;
  std::uint64_t spent_ = 0;
  std::uint64_t total_ = 0;
};

class credit_account;

/// A rank's accounts that are due for a grant. Any thread puts in, the poll loop takes out.
class due_accounts {
 public:
  explicit due_accounts(std::uint64_t window_bytes) noexcept : prices(window_bytes), grant_bytes(window_bytes / 4) {}
  void push(credit_account& account) noexcept;
  [[nodiscard]] bool empty() const noexcept { return head_.load(std::memory_order_relaxed) == nullptr; }  // a hint
  /// All of them, linked by next_due.
  [[nodiscard]] credit_account* take() noexcept {
    return head_.exchange(nullptr, std::memory_order_acquire);  // pairs with push
  }

  const message_prices prices;
  const std::uint64_t grant_bytes;  // an account is due once so many bytes have been released

 private:
  std::atomic<credit_account*> head_{nullptr};
};

/// The receiver's side of one channel from one peer. Arrived messages point to it as their body_ops, so that the end of
/// each calls `release`, on any thread.
class alignas(cache_line_bytes) credit_account : public body_ops {
 public:
  credit_account(rank_id source, channel channel, due_accounts& due) noexcept
      : body_ops{nullptr, nullptr, &release, true}, peer(source), via(channel), due_(due) {}
  credit_account(const credit_account&) = delete;
  credit_account& operator=(const credit_account&) = delete;

  [[nodiscard]] std::uint32_t key() const noexcept { return peer_key(peer, via); }

  /// `m` holds its cost from now on. This and all that follows is for the poll loop only, unless it says otherwise.
  void hold(message& m) noexcept {
    m.ops = this;
    arrived_ += due_.prices.cost_of(m.header);
  }
  /// Moves the part's share of the cost from its bundle to the part; see message_prices. Any thread.
  static void hand_over(const message& bundle, message& part) noexcept { part.ops = bundle.ops; }
  /// `m` leaves this rank, or is taken apart: it holds nothing any more.
  static void let_go(message& m) noexcept { m.ops = nullptr; }

  /// The account has been taken out of the list. Before grant: a release that grant does not see lists it again.
  void unlist() noexcept { listed_.store(false, std::memory_order_seq_cst); }
  /// Grants the bytes that have been released and not been granted; returns them.
  [[nodiscard]] std::uint64_t grant() noexcept {
    const std::uint64_t granted = granted_.load(std::memory_order_relaxed);  // written here alone
    const std::uint64_t released = released_.load(std::memory_order_seq_cst);
    if (released <= granted) return 0;
    granted_.store(released, std::memory_order_relaxed);  // read by release as a hint
    return released - granted;
  }
  /// Grants all bytes that have arrived and not been granted, released or not; returns them.
  [[nodiscard]] std::uint64_t grant_all() noexcept {
    const std::uint64_t granted = granted_.load(std::memory_order_relaxed);  // written here alone
    granted_.store(arrived_, std::memory_order_relaxed);
    return arrived_ - granted;
  }
  /// The peer waits for a grant, after it has spent `total` all in all.
  void ask(std::uint64_t total) noexcept { asked_at_ = total; }
  /// Whether the grants so far cover all that the peer had spent when it asked. Then its request and the last grant
  /// have crossed on the way, and it waits no more.
  [[nodiscard]] bool request_granted() const noexcept {
    return granted_.load(std::memory_order_relaxed) >= asked_at_;  // written here alone
  }
  [[nodiscard]] std::uint64_t held() const noexcept {
    return arrived_ - released_.load(std::memory_order_relaxed);  // a figure for people and tests
  }

  const rank_id peer;
  const channel via;
  bool asked = false;                  // poll loop: the peer waits for a grant
  bool asked_listed = false;           // poll loop: the backplane looks at it when the rank has nothing to run
  credit_account* next_due = nullptr;  // link of due_accounts

 private:
  static void release(message& m) noexcept {
    auto& self = const_cast<credit_account&>(static_cast<const credit_account&>(*m.ops));
    const std::uint64_t cost = self.due_.prices.cost_of(m.header);
    const std::uint64_t released = self.released_.fetch_add(cost, std::memory_order_seq_cst) + cost;
    // A hint from grant and grant_all: with an old value the account is listed too early, and grant_all may have
    // granted more than was released.
    const std::uint64_t granted = self.granted_.load(std::memory_order_relaxed);
    if (released < granted + self.due_.grant_bytes || self.listed_.load(std::memory_order_seq_cst)) return;
    if (!self.listed_.exchange(true, std::memory_order_seq_cst)) self.due_.push(self);
  }

  due_accounts& due_;
  std::uint64_t arrived_ = 0;
  std::uint64_t asked_at_ = 0;
  std::atomic<std::uint64_t> granted_{0};
  alignas(cache_line_bytes) std::atomic<std::uint64_t> released_{0};
  std::atomic<bool> listed_{false};
};

inline void due_accounts::push(credit_account& account) noexcept {
  credit_account* head = head_.load(std::memory_order_relaxed);
  do {
    account.next_due = head;
  } while (!head_.compare_exchange_weak(head, &account, std::memory_order_release, std::memory_order_relaxed));
}

}  // namespace nacre
