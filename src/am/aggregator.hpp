// SPDX-License-Identifier: Apache-2.0
// Lets small messages of one thread context to one rank travel together.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <nacre/message.hpp>

#include "backplane/backplane.hpp"
#include "base/biased_lock.hpp"
#include "base/sparse_table.hpp"
#include "exec/worker_pool.hpp"

namespace nacre {

/// All messages of a thread context to other ranks pass here. Messages on channel `application` wait for company when
/// the thread has sent to the same rank a short while ago; the others leave at once. So does the first message to a
/// rank after the thread has had nothing to run.
///
/// | slot of a rank | message fits | message does not fit | flush |
/// |---|---|---|---|
/// | empty, last flush long ago | leaves at once | leaves at once | - |
/// | empty, else | held as it is | leaves at once | - |
/// | one message | bundle of both | what is held leaves; then as in the rows for an empty slot | leaves |
/// | bundle | joins it | what is held leaves; then as in the rows for an empty slot | leaves |
///
/// The thread flushes when it runs out of work. `bound_ticks` after the first message the poll loop asks it to flush
/// with the next one, and after as many again flushes itself. The room of a bundle doubles when one was full and halves
/// when one left nearly empty, so that a thread with many targets does not hold much. The order of messages to one rank
/// is kept. Messages that need no credit have slots of their own, because they must not wait behind the others.
///
/// Threads: `append` by the owning thread; `flush` by any.
class aggregator final : public send_buffer {
 public:
  struct settings {
    std::size_t bytes_max = 8 * 1024;  ///< room of a bundle
    std::uint64_t bound_ticks = 0;     ///< how long a message waits for company
  };
  aggregator(thread_context& thread, backplane& link, const settings& settings);
  aggregator(const aggregator&) = delete;
  aggregator& operator=(const aggregator&) = delete;

  /// Takes a message for another rank, of live values or packed; its header is complete. Returns its payload's bytes.
  std::size_t append(rank_id target, message_ptr m);
  void flush(thread_context& thread) override;
  /// Inside the poll loop: sees that what has been held for the bound leaves. The owning thread is asked first, because
  /// mostly it is about to append. Returns when it must be called again at the latest, in ticks from now; 0: no message
  /// is held.
  std::uint64_t flush_overdue(thread_context& thread);

 private:
  static constexpr std::uint32_t room_min = 512;
  [[nodiscard]] static constexpr std::uint32_t slot_key(rank_id target, bool needs_no_credit) noexcept {
    return target.value() << 1 | (needs_no_credit ? 1U : 0U);
  }
  struct slot {
    slot(rank_id target, bool without_credit) noexcept : needs_no_credit(without_credit), peer(target) {}
    [[nodiscard]] std::uint32_t key() const noexcept { return slot_key(peer, needs_no_credit); }

    message_ptr held;               // a message, or the bundle
    std::uint32_t used = 0;         // bytes of the bundle; 0: no bundle is held
    std::uint32_t room = room_min;  // bytes of this bundle; of the next one when there is none
    std::uint64_t flushed_at = 0;
    bool open = false;           // in open_
    const bool needs_no_credit;  // all its messages
    const rank_id peer;
    // Own thread.
    std::uint64_t round = ~std::uint64_t{0};  // in which a message last left at once
    bool first_left = false;                  // that message has left, and no other has followed it
  };

  std::size_t send_now(rank_id target, message_ptr m);
  [[nodiscard]] slot& slot_of(rank_id target, bool needs_no_credit);
  std::size_t append_locked(slot& slot, message_ptr m);
  void start_bundle(slot& slot);
  void add_part(slot& slot, message& m, std::size_t payload_bytes);
  void send(slot& slot, thread_context& thread);
  void flush_locked(thread_context& thread);

  thread_context& thread_;
  backplane& link_;
  settings settings_;
  biased_lock busy_;
  std::atomic<bool> asked_{false};  // a hint: the owning thread shall flush when it appends next
  sparse_table<slot> slots_;        // own thread; slots under busy_; made when first asked for, up to two for each rank
  std::vector<slot*> open_;         // under busy_
};

}  // namespace nacre
