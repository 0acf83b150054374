// SPDX-License-Identifier: Apache-2.0
// The receiving end of one ring: from slots to messages, believing nothing.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <nacre/message.hpp>

#include "transport/shm/layout.hpp"

namespace nacre::transport::shm {

/// What a message from the writer of a ring has to satisfy.
struct reader_limits {
  std::uint32_t ranks = 0;
  channel on = channel::application;
  std::uint32_t payload_bytes_max = 0;
  pid_t writer = 0;               ///< whose memory payloads are fetched from; 0: nobody's
  std::optional<rank_id> peer{};  ///< in whose name alone it may send, but for what it forwards; absent: anybody's
};

/// Turns the slots of one ring into messages. A slot is copied before anything in it is looked at, because its writer
/// may be broken, or still writing.
///
/// | state | slot | next |
/// |---|---|---|
/// | between messages | whole_inline, whole | the message has arrived; between messages |
/// | between messages | begin | assembling |
/// | between messages | fetch | fetching |
/// | between messages | goodbye | over |
/// | between messages, over | again | assembling the oldest message that awaits its payload |
/// | assembling | piece | assembling; the message has arrived with the last one, and then what it was before |
/// | fetching | (none is taken) | about fetch_bytes_a_call are read from the writer's memory; fetched is told at the
/// end |
/// | any | anything else, a header that may not be, a length that does not fit, memory that is gone | failed |
///
/// Memory that was read and no longer can be (the kernel refuses it) is no failure: the writer is told, sends again
/// what has not been fetched, and leaves nothing in its memory from then on. Until a payload is there, its message and
/// all behind it are held; that is what the writer had left to be fetched, and what lay in the ring.
///
/// Invariants: what is consumed is announced after each quarter of the slots and of the data, and at once when a
/// payload has been fetched; a message is believed to the extent of its own payload_bytes, at most payload_bytes_max,
/// so that a reader serves authenticated peers only. One thread, but `ready`.
class ring_reader {
 public:
  /// Of a payload; a rest of a quarter of that is not worth a call of its own.
  static constexpr std::size_t fetch_bytes_a_call = std::size_t{1} << 20;
  /// Once so much has been fetched, what has arrived is delivered before more comes: what is urgent on another channel
  /// waits for that, or for one call, in each ring before it, and the block that was filled, which is in the cache, may
  /// be the next that is filled.
  static constexpr std::size_t fetch_bytes_delivered = std::size_t{64} << 10;

  ring_reader(const ring_view& ring, const reader_limits& limits) noexcept : ring_(ring), limits_(limits) {}

  /// Appends what has arrived until `arrived` holds `enough`. True when anything moved.
  bool receive(message_list& arrived, std::size_t enough) {
    return pending() && !error_ && receive_some(arrived, enough);
  }
  /// Whether there is something to receive or to go on with.
  [[nodiscard]] bool pending() const noexcept { return ready() || fetching_; }

  /// Whether the next slot is full. Any thread; beside `receive` it may err about what that takes away just now.
  [[nodiscard]] bool ready() const noexcept {
    const std::uint64_t position = position_.load(std::memory_order_relaxed);  // another thread's view may be old
    // seq_cst: looked at after the own mode or alarm has been set; it also acquires what lies behind the stamp
    return is_stamp_of(shared(ring_.slots[position & (ring_.slot_count - 1)].stamp).load(), position);
  }

  /// The writer may leave payloads in its memory. Before the first message.
  void offer_to_fetch() noexcept { tell_fetching(fetching::offered); }
  /// The errno with which the kernel has refused the memory of the writer; 0 if it has not, and after the first time
  /// that this was asked.
  [[nodiscard]] int take_refusal() noexcept { return std::exchange(refusal_, 0); }
  void set_mode(attention how) noexcept { shared(ring_.reader->mode).store(static_cast<std::uint32_t>(how)); }
  /// Whether the writer asked to be woken, and something has been announced since. Clears the wish.
  [[nodiscard]] bool take_wish() noexcept;

  [[nodiscard]] bool over() const noexcept { return over_ && held_.empty(); }
  /// One clause about what the writer did, once the ring has failed.
  [[nodiscard]] std::optional<std::string_view> error() const noexcept { return error_; }

 private:
  /// A message that has come, or whose place is known, behind one that awaits its payload.
  struct held_message {
    message_header header;
    message_ptr m;  // null: it awaits its payload itself
  };

  bool receive_some(message_list& arrived, std::size_t enough);
  void take(const slot& next, message_list& arrived);
  void take_message(slot_kind kind, const slot& next, message_list& arrived);
  void take_again();
  void take_piece(const slot& next, message_list& arrived);
  void complete(message_ptr m, message_list& arrived);
  void fetch(message_list& arrived);
  void give_up_fetching(int error);
  void copy_data(std::byte* to, std::size_t bytes);
  void announce_when_due();
  void tell_fetching(fetching now) noexcept {
    shared(ring_.reader->fetching).store(static_cast<std::uint32_t>(now));  // pairs with the loads in ring_writer
  }
  void fail(std::string_view why) noexcept { error_ = why; }

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
  std::size_t fetched_bytes_ = 0;  // in this call
  bool fetching_ = false;
  bool again_ = false;              // partial_ is the first of those that await their payload
  bool refused_ = false;            // nothing is fetched any more
  int refusal_ = 0;                 // see take_refusal
  std::vector<held_message> held_;  // the first one awaits its payload
  bool announced_ = false;
  bool over_ = false;
  std::optional<std::string_view> error_;
};

/// Reads another process's memory. True when all of it could be read; otherwise errno says why not.
[[nodiscard]] bool read_memory(pid_t process, std::uint64_t address, std::byte* to, std::size_t bytes) noexcept;

}  // namespace nacre::transport::shm
