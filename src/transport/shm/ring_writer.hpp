// SPDX-License-Identifier: Apache-2.0
// The sending end of one ring: from messages to slots, and what waits for room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <nacre/message.hpp>

#include "transport/shm/layout.hpp"

namespace nacre::transport::shm {

/// What bounds a writer.
struct writer_limits {
  std::size_t held_bytes_max = 0;   ///< of messages that wait for room or for being fetched; one may exceed it
  std::size_t fetch_bytes_min = 0;  ///< from this size on, a payload stays here until the reader has fetched it
};

/// Writes messages into a ring, in order. Who calls it tells the reader afterwards, once a call has `published`.
///
/// | a message | takes |
/// |---|---|
/// | of up to 16 bytes | a slot |
/// | of up to a quarter of the data | a slot, and its size in the data, rounded to cache lines |
/// | of fetch_bytes_min or more, when the reader can fetch | a slot; it is kept until the reader has fetched it |
/// | longer, otherwise | a slot for its header, then a slot and data for each quarter |
/// | that was to be fetched, when the reader no longer can | a slot that says so, then the same |
///
/// Room is what the reader line has announced as consumed; it is looked at again only when the room that is known is
/// used up. A writer that finds none sets `waits` and looks once more, the reader announces and then looks at `waits`
/// (all seq_cst): one of them sees the other. The same holds while messages wait to be fetched.
///
/// The last slot of a call is published by a seq_cst store, those before it by release stores: see attention in
/// bells.hpp. The reader line is the reader's word, so it is checked: one that claims more than was written breaks the
/// ring. One thread.
class ring_writer {
 public:
  ring_writer(const ring_view& ring, const writer_limits& limits) noexcept : ring_(ring), limits_(limits) {}

  /// Takes messages from the front of the batch: what there is room for is written, the rest waits here, up to the
  /// bound. True when something has been published.
  bool submit(message_list& batch);
  /// Goes on with what waits, and releases what has been fetched. True when anything moved.
  bool advance();
  /// Puts the goodbye behind everything that was submitted.
  void say_goodbye() noexcept { goodbye_ = goodbye::wanted; }
  /// Releases everything, because nobody reads any more.
  void drop();

  /// Whether there is something to advance.
  [[nodiscard]] bool unsent() const noexcept {
    return waiting_.front() != nullptr || pinned_.front() != nullptr || again_.front() != nullptr ||
           goodbye_ == goodbye::wanted;
  }
  /// Whether slots have been published since the last call.
  [[nodiscard]] bool take_published() noexcept { return std::exchange(published_, false); }
  [[nodiscard]] attention mode() const noexcept { return static_cast<attention>(shared(ring_.reader->mode).load()); }
  /// The reader's word contradicts what was written.
  [[nodiscard]] bool broken() const noexcept { return broken_; }

 private:
  enum class goodbye : std::uint8_t { none, wanted, written };

  [[nodiscard]] bool write(message_ptr& m);
  [[nodiscard]] bool write_pieces(message_ptr& m, slot_kind first);
  [[nodiscard]] bool write_front(message_list& from);
  void pin(message_ptr& m);
  bool take_back();
  [[nodiscard]] bool write_all();
  [[nodiscard]] bool room(std::uint64_t data);
  [[nodiscard]] fetching told_fetching(std::memory_order order) const noexcept {
    return static_cast<fetching>(shared(ring_.reader->fetching).load(order));
  }
  void look_again();
  void put(slot_kind kind, const message_header& header, const void* extra, std::size_t extra_bytes);
  void put_data(const std::byte* from, std::size_t bytes);
  void publish();
  bool release_fetched();

  ring_view ring_;
  writer_limits limits_;
  std::uint64_t slots_written_ = 0;
  std::uint64_t data_written_ = 0;
  std::uint64_t slots_free_until_ = 0;  // as far as is known; 0 before the first look
  std::uint64_t data_free_until_ = 0;
  std::uint64_t unpublished_stamp_ = 0;  // of the slot in front of slots_written_; 0: it is published
  message_list waiting_;
  message_list pinned_;           // written as slot_kind::fetch
  message_list again_;            // were pinned, and are to be written in pieces, in front of what waits
  std::uint64_t pins_ = 0;        // ever
  std::uint64_t pins_freed_ = 0;  // of them
  std::size_t held_bytes_ = 0;    // in waiting_, pinned_ and again_
  std::size_t piece_offset_ = 0;  // of the message that is begun
  bool begun_ = false;            // the first slot of the message in front of waiting_ is written
  bool again_begun_ = false;      // the same of again_
  goodbye goodbye_ = goodbye::none;
  bool published_ = false;
  bool broken_ = false;
};

}  // namespace nacre::transport::shm
