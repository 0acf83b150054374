// SPDX-License-Identifier: Apache-2.0
// The receiving end of one ring: turns slots into messages and checks every one of them.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <nacre/message.hpp>

#include "transport/shm/layout.hpp"
#include "transport/shm/process_memory.hpp"

namespace nacre::transport::shm {

/// The limits that a message from the writer of a ring must satisfy.
struct reader_limits {
  std::uint32_t ranks = 0;
  channel ring_channel = channel::application;
  std::uint32_t payload_bytes_max = 0;
  pid_t writer = 0;               ///< the process that payloads are fetched from; 0: none
  std::optional<rank_id> peer{};  ///< the source that its messages must name, forwarded ones excepted; absent: any
  std::shared_ptr<const process_handle> handle{};  ///< of `writer`; null: this process
};

/// Turns the slots of one ring into messages. The reader copies a slot before it checks any word of it, because the
/// writer may be broken, or still writing.
///
/// | state | slot | next |
/// |---|---|---|
/// | between messages | whole_inline, whole | the message arrives; between messages |
/// | between messages | begin | assembling |
/// | between messages | fetch | fetching |
/// | between messages | shutdown | over |
/// | between messages, over | again | assembling the oldest message that awaits its payload |
/// | assembling | fragment | assembling; with the last one the message arrives, then the state before |
/// | fetching | (none is taken) | reads about fetch_bytes_a_call of the writer's memory; at the end announces it |
/// | any | any other, a forbidden header, a length that does not fit, memory that is gone | failed |
///
/// It is no failure when the kernel begins to refuse access to the writer's memory. The reader tells the writer. The
/// writer sends again all payloads that have not been fetched, and leaves no more payloads in its memory. Until a
/// payload is there, the reader holds its message and all messages after it; these are at most the messages that waited
/// to be fetched and those in the ring.
///
/// Invariants: the reader announces consumption after each quarter of the slots and of the data, and after each fetched
/// payload at once. It trusts a header's payload_bytes up to payload_bytes_max and allocates as much, so it must serve
/// authenticated peers only. One thread, but `ready`.
class ring_reader {
 public:
  /// Bytes of a payload that one call fetches. A rest of up to a quarter of that is fetched by the same call.
  static constexpr std::size_t fetch_bytes_a_call = std::size_t{1} << 20;
  /// `receive` returns once it has fetched so much. So an urgent message on another channel waits for at most that, or
  /// for one call, in each ring that is polled before its own. And the block just filled, which is in the cache, may be
  /// filled again next.
  static constexpr std::size_t fetch_bytes_delivered = std::size_t{64} << 10;

  ring_reader(const ring_view& ring, const reader_limits& limits) noexcept : ring_(ring), limits_(limits) {}

  /// Appends messages that have arrived until `arrived` holds `enough`. True when there was something to take or to
  /// fetch, even if nothing could be moved.
  bool receive(message_list& arrived, std::size_t enough) {
    return pending() && !error_ && receive_some(arrived, enough);
  }
  /// Whether there is a full slot, or a fetch to continue.
  [[nodiscard]] bool pending() const noexcept { return ready() || fetching_; }

  /// Whether the next slot is full. Any thread; while `receive` runs it may report a slot that is being taken.
  [[nodiscard]] bool ready() const noexcept {
    const std::uint64_t position = position_.load(std::memory_order_relaxed);  // another thread's view may be old
    // seq_cst: this load follows the stores to the own mode and the futex. Acquires the slot and its data
    return is_stamp_of(shared(ring_.slots[position & (ring_.slot_count - 1)].stamp).load(), position);
  }

  /// Allows the writer to leave payloads in its memory. Call it before the first message.
  void offer_to_fetch() noexcept { tell_fetching(fetching::offered); }
  /// The errno with which the kernel has refused access to the writer's memory. 0 when it has not, or when an
  /// earlier call has returned the errno.
  [[nodiscard]] int take_refusal() noexcept { return std::exchange(refusal_, 0); }
  void set_mode(attention attention) noexcept {
    shared(ring_.reader->mode).store(static_cast<std::uint32_t>(attention));
  }
  /// Whether the writer asks to be woken and something has been announced since. Clears the request.
  [[nodiscard]] bool take_wakeup_request() noexcept;

  [[nodiscard]] bool over() const noexcept { return is_over_ && held_.empty(); }
  /// The fault of the writer, one clause, once the ring has failed.
  [[nodiscard]] std::optional<std::string_view> error() const noexcept { return error_; }

 private:
  /// A message that awaits its payload, or is complete and follows one that does.
  struct held_message {
    message_header header;
    message_ptr m;  // null: it awaits its payload
  };

  bool receive_some(message_list& arrived, std::size_t enough);
  void take(const slot& next, message_list& arrived);
  void take_message(slot_kind kind, const slot& next, message_list& arrived);
  void take_again();
  void take_fragment(const slot& next, message_list& arrived);
  void complete(message_ptr m, message_list& arrived);
  void fetch(message_list& arrived);
  void give_up_fetching(int error);
  void copy_data(std::byte* target, std::size_t bytes);
  void announce_when_due();
  void tell_fetching(fetching now) noexcept {
    shared(ring_.reader->fetching).store(static_cast<std::uint32_t>(now));  // pairs with the loads in ring_writer
  }
  void fail(std::string_view reason) noexcept { error_ = reason; }

  ring_view ring_;
  reader_limits limits_;
  std::atomic<std::uint64_t> position_{0};  // slots consumed
  std::uint64_t data_position_ = 0;
  std::uint64_t position_announced_ = 0;
  std::uint64_t data_announced_ = 0;
  std::uint64_t fetches_ = 0;
  message_ptr partial_;  // assembling or fetching
  std::size_t partial_bytes_ = 0;
  std::uint64_t fetch_from_ = 0;
  std::size_t fetched_bytes_ = 0;  // by this call of receive
  bool fetching_ = false;
  bool again_ = false;              // partial_ is the first message of held_
  bool refused_ = false;            // nothing is fetched any more
  int refusal_ = 0;                 // see take_refusal
  std::vector<held_message> held_;  // the first one awaits its payload
  bool announced_ = false;
  bool is_over_ = false;
  std::optional<std::string_view> error_;
};

}  // namespace nacre::transport::shm
