// SPDX-License-Identifier: Apache-2.0
// The backplane's outboxes and credit accounts for peers that it exchanges messages with.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include <nacre/message.hpp>

#include "backplane/credit_window.hpp"
#include "base/cache_line.hpp"
#include "base/sparse_table.hpp"

namespace nacre {

/// Messages to one rank on one channel that have not left.
struct alignas(cache_line_bytes) outbox {
  outbox(rank_id target, channel channel, std::uint64_t window_bytes) noexcept
      : peer(target), via(channel), window(window_bytes) {}

  [[nodiscard]] std::uint32_t key() const noexcept { return peer_key(peer, via); }

  const rank_id peer;
  const channel via;
  outbox* next = nullptr;  // link of the backplane's list of outboxes with something to send

  // Under the poll lock.
  message_list leaving;  // admitted, but not yet taken by the link
  credit_window window;
  bool asked = false;  // for credit, since the last grant

  std::mutex mutex;
  message_list waiting;  // under mutex
  bool listed = false;   // under mutex: the next flush looks here
  /// Nothing is waiting, leaving or listed: written under mutex, read under the poll lock. A thread sees at least the
  /// messages that it has put here itself, which is all that its order needs.
  std::atomic<bool> clear{true};
};

/// Outboxes and credit accounts, made when first asked for: a rank of a large job talks to few of the others, and most
/// of its messages to them need neither credit nor a place to wait. Any thread.
class peer_table {
 public:
  peer_table(std::uint64_t window_bytes, due_accounts& due) : window_bytes_(window_bytes), due_(due) {}

  /// Null: no message to `target` on this channel has ever waited or spent credit.
  [[nodiscard]] outbox* find_box(rank_id target, channel via) const noexcept {
    return boxes_.find(peer_key(target, via));
  }
  [[nodiscard]] outbox& box(rank_id target, channel via) {
    return boxes_.of(peer_key(target, via),
                     [&] { return std::make_unique<outbox>(target, via, via == channel::system ? 0 : window_bytes_); });
  }
  [[nodiscard]] credit_account& account(rank_id source, channel via) {
    return accounts_.of(peer_key(source, via), [&] { return std::make_unique<credit_account>(source, via, due_); });
  }

 private:
  std::uint64_t window_bytes_;
  due_accounts& due_;
  sparse_table<outbox> boxes_;
  sparse_table<credit_account> accounts_;
};

}  // namespace nacre
