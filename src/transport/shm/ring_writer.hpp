// SPDX-License-Identifier: Apache-2.0
// The sending end of one ring: turns messages into slots and queues those that find no room.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <nacre/message.hpp>

#include "transport/shm/layout.hpp"

namespace nacre::transport::shm {

/// The bounds of a writer.
struct writer_limits {
  std::size_t held_bytes_max = 0;   ///< of messages that wait for room or to be fetched; one message may exceed it
  std::size_t fetch_bytes_min = 0;  ///< from this size on, a payload stays here until the reader has fetched it
};

/// Writes messages into a ring, in order. After a call that has published slots the caller must tell the reader.
///
/// | a message | takes |
/// |---|---|
/// | of up to 16 bytes | a slot |
/// | of fetch_bytes_min or more, when the reader can fetch | a slot; the message is kept until it is fetched |
/// | else of up to a quarter of the data | a slot, and its size in the data, rounded to cache lines |
/// | longer, otherwise | a slot for its header, then a slot and data for each fragment (a quarter) |
/// | that was to be fetched, when the reader no longer can | a slot that says so, then as a longer one |
///
/// The reader line announces consumed slots and data, which are free again. The writer reads it only when the room that
/// it knows of is used up.
///
/// Invariant: a writer that waits, for room or for a fetch, is woken. It sets `waits` and then reads the reader line
/// once more; the reader announces and then reads `waits`. All four are seq_cst, so one of the two sees the other's
/// store.
///
/// The last slot of a call is published by a seq_cst store (see the table of poll_set), those before it by release
/// stores. The writer checks the reader line: one that claims more than was written breaks the ring. One thread.
class ring_writer {
 public:
  ring_writer(const ring_view& ring, const writer_limits& limits) noexcept : ring_(ring), limits_(limits) {}

  /// Takes messages from the front of the batch. Those that find room are written; the others are queued here, up to
  /// the bound. True when slots have been published.
  bool submit(message_list& batch);
  /// Writes queued messages, and releases those that were fetched. True when anything moved.
  bool advance();
  /// Queues the shutdown after all submitted messages.
  void send_shutdown() noexcept { shutdown_ = shutdown::wanted; }
  /// Releases all messages, because the ring has no reader any more.
  void drop();

  /// Whether there is something to advance.
  [[nodiscard]] bool unsent() const noexcept {
    return waiting_.front() != nullptr || pinned_.front() != nullptr || again_.front() != nullptr ||
           shutdown_ == shutdown::wanted;
  }
  /// Whether slots have been published since the last call.
  [[nodiscard]] bool take_published() noexcept { return std::exchange(published_, false); }
  [[nodiscard]] attention mode() const noexcept { return static_cast<attention>(shared(ring_.reader->mode).load()); }
  /// The reader has announced more than was written.
  [[nodiscard]] bool broken() const noexcept { return broken_; }

 private:
  enum class shutdown : std::uint8_t { none, wanted, written };

  [[nodiscard]] bool write(message_ptr& m);
  [[nodiscard]] bool write_fragments(message_ptr& m, slot_kind first);
  [[nodiscard]] bool write_front(message_list& messages);
  void pin(message_ptr& m);
  bool take_back();
  [[nodiscard]] bool write_all();
  [[nodiscard]] bool room(std::uint64_t data);
  [[nodiscard]] fetching told_fetching(std::memory_order order) const noexcept {
    return static_cast<fetching>(shared(ring_.reader->fetching).load(order));
  }
  void look_again();
  void put(slot_kind kind, const message_header& header, const void* extra, std::size_t extra_bytes);
  void put_data(const std::byte* source, std::size_t bytes);
  void publish();
  bool release_fetched();

  ring_view ring_;
  writer_limits limits_;
  std::uint64_t slots_written_ = 0;
  std::uint64_t data_written_ = 0;
  std::uint64_t slots_free_until_ = 0;  // as far as is known; 0: the reader line was not read yet
  std::uint64_t data_free_until_ = 0;
  std::uint64_t unpublished_stamp_ = 0;  // of the slot before slots_written_; 0: it is published
  message_list waiting_;
  message_list pinned_;              // written as slot_kind::fetch
  message_list again_;               // were pinned; to be written in fragments before waiting_
  std::uint64_t pins_ = 0;           // messages that were ever pinned
  std::uint64_t pins_freed_ = 0;     // of these, released
  std::size_t held_bytes_ = 0;       // in waiting_, pinned_ and again_
  std::size_t fragment_offset_ = 0;  // into the message that is begun
  bool begun_ = false;               // the first slot of the first message of waiting_ is written
  bool again_begun_ = false;         // the first slot of the first message of again_ is written
  shutdown shutdown_ = shutdown::none;
  bool published_ = false;
  bool broken_ = false;
};

}  // namespace nacre::transport::shm
