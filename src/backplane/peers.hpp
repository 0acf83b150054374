// SPDX-License-Identifier: Apache-2.0
// What the backplane keeps for each peer that it has ever met.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include <nacre/message.hpp>

#include "backplane/credits.hpp"
#include "base/cache_line.hpp"

namespace nacre {

/// Messages to one rank on one channel that have not left.
struct alignas(cache_line_bytes) outbox {
  outbox(rank_id target, channel on, std::uint64_t window_bytes) noexcept : to(target), via(on), window(window_bytes) {}

  const rank_id to;
  const channel via;
  outbox* next = nullptr;  // link of the backplane's list of outboxes with something to send

  // The turn's.
  message_list leaving;  // admitted, but not yet taken by the link
  credit_window window;
  bool asked = false;  // for credit, since the last grant

  std::mutex mutex;
  message_list waiting;  // under mutex
  bool listed = false;   // under mutex: the next flush looks here
  /// Nothing is waiting, leaving or listed: written under mutex, read by the turn. A lane sees at least what it has put
  /// here itself, which is all that its order needs.
  std::atomic<bool> clear{true};
};

struct peer {
  peer(rank_id rank, std::uint64_t window_bytes, due_accounts& due) noexcept
      : boxes{outbox(rank, channel::system, 0), outbox(rank, channel::application, window_bytes),
              outbox(rank, channel::bulk, window_bytes)},
        accounts{credit_account(rank, channel::system, due), credit_account(rank, channel::application, due),
                 credit_account(rank, channel::bulk, due)} {}
  [[nodiscard]] outbox& box(channel via) noexcept { return boxes[static_cast<std::size_t>(via)]; }
  [[nodiscard]] credit_account& account(channel via) noexcept { return accounts[static_cast<std::size_t>(via)]; }

  std::array<outbox, channel_count> boxes;
  std::array<credit_account, channel_count> accounts;
};

/// The peers by rank, made when first asked for: a rank of a large job talks to few. Any thread.
class peer_table {
 public:
  peer_table(std::uint32_t ranks, std::uint64_t window_bytes, due_accounts& due)
      : window_bytes_(window_bytes),
        due_(due),
        pages_(std::make_unique<std::atomic<page*>[]>(pages_of(ranks))),
        page_count_(pages_of(ranks)) {}
  ~peer_table() {
    for (std::size_t i = 0; i < page_count_; ++i) {
      page* const each = pages_[i].load();
      if (each == nullptr) continue;
      for (auto& slot : each->slots) delete slot.load();
      delete each;
    }
  }
  peer_table(const peer_table&) = delete;
  peer_table& operator=(const peer_table&) = delete;

  [[nodiscard]] peer& of(rank_id rank) {
    const page* const there = pages_[rank.value() / page_ranks].load(std::memory_order_acquire);  // pairs with make
    if (there != nullptr) {
      peer* const known = there->slots[rank.value() % page_ranks].load(std::memory_order_acquire);  // pairs with make
      if (known != nullptr) return *known;
    }
    return make(rank);
  }

 private:
  static constexpr std::size_t page_ranks = 64;
  struct page {
    std::array<std::atomic<peer*>, page_ranks> slots{};
  };
  static std::size_t pages_of(std::uint32_t ranks) noexcept { return (ranks + page_ranks - 1) / page_ranks; }

  peer& make(rank_id rank) {
    const std::scoped_lock lock(mutex_);
    std::atomic<page*>& where = pages_[rank.value() / page_ranks];
    if (where.load(std::memory_order_relaxed) == nullptr) {  // written under the mutex only, as the slots
      where.store(new page, std::memory_order_release);      // pairs with the acquire in of
    }
    std::atomic<peer*>& slot = where.load(std::memory_order_relaxed)->slots[rank.value() % page_ranks];
    if (slot.load(std::memory_order_relaxed) == nullptr) {
      slot.store(new peer(rank, window_bytes_, due_), std::memory_order_release);  // pairs with the acquire in of
    }
    return *slot.load(std::memory_order_relaxed);
  }

  std::uint64_t window_bytes_;
  due_accounts& due_;
  std::mutex mutex_;
  std::unique_ptr<std::atomic<page*>[]> pages_;
  std::size_t page_count_;
};

}  // namespace nacre
