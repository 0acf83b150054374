// SPDX-License-Identifier: Apache-2.0
// The sending end of one ring: turns messages into slots and queues those that find no room.
#include "transport/shm/ring_writer.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <nacre/assert.hpp>

namespace nacre::transport::shm {
namespace {

std::size_t held_bytes_of(const message& m) noexcept { return sizeof(message) + m.header.payload_bytes; }

}  // namespace

bool ring_writer::submit(message_list& batch) {
  release_fetched();  // first, so that their blocks, which are in the cache, are reused next
  take_back();        // before more messages are pinned in vain
  while (!batch.empty() && held_bytes_ < limits_.held_bytes_max) {
    message_ptr m = packed_form(batch.pop_front());
    if (waiting_.empty() && again_.empty() && write(m)) continue;
    held_bytes_ += held_bytes_of(*m);
    waiting_.push_back(std::move(m));
  }
  publish();
  return published_;
}

bool ring_writer::advance() {
  bool moved = release_fetched();
  moved |= take_back();
  moved |= write_all();
  // Reads the reader line once more after the request to be woken, so that no announcement falls in between.
  if (unsent() && !broken_ && shared(ring_.writer->waits).load(std::memory_order_relaxed) == 0) {  // own store
    shared(ring_.writer->waits).store(1);
    look_again();
    moved |= release_fetched();
    moved |= take_back();
    moved |= write_all();
  }
  publish();
  return moved;
}

bool ring_writer::write_all() {
  const std::uint64_t previous = slots_written_;
  while (!broken_) {
    message_list& next = again_.empty() || begun_ ? waiting_ : again_;  // a message is never interrupted
    if (next.empty() || !write_front(next)) break;
  }
  if (shutdown_ == shutdown::wanted && waiting_.empty() && again_.empty() && room(0)) {
    put(slot_kind::shutdown, {}, nullptr, 0);
    shutdown_ = shutdown::written;
  }
  return slots_written_ != previous;
}

bool ring_writer::write_front(message_list& messages) {
  message_ptr m = messages.pop_front();
  const std::size_t bytes = held_bytes_of(*m);
  if (&messages == &again_ ? write_fragments(m, slot_kind::again) : write(m)) {
    held_bytes_ -= bytes;
    return true;
  }
  message_list rest;
  rest.push_back(std::move(m));
  rest.append(messages);
  messages = std::move(rest);
  return false;
}

void ring_writer::drop() {
  if (!pinned_.empty()) shared(ring_.writer->revoked).store(1);  // before the memory is released
  waiting_.clear();
  pinned_.clear();
  again_.clear();
  held_bytes_ = 0;
  pins_freed_ = pins_;
  shutdown_ = shutdown::written;
}

/// False when there is no room: the caller keeps the message and passes it first to the next call.
bool ring_writer::write(message_ptr& m) {
  const std::size_t bytes = m->header.payload_bytes;
  if (bytes <= inline_bytes_max) {
    if (!room(0)) return false;
    put(slot_kind::whole_inline, m->header, m->body(), bytes);
  } else if (!begun_ && bytes >= limits_.fetch_bytes_min &&
             told_fetching(std::memory_order_relaxed) == fetching::offered) {  // a refusal is noticed by take_back
    if (!room(0)) return false;
    pin(m);
    return true;
  } else if (bytes <= ring_.fragment_bytes_max()) {
    if (!room(rounded(bytes))) return false;
    put_data(m->body(), bytes);
    put(slot_kind::whole, m->header, nullptr, 0);
  } else {
    return write_fragments(m, slot_kind::begin);
  }
  m.reset();
  return true;
}

bool ring_writer::write_fragments(message_ptr& m, slot_kind first) {
  bool& begun = first == slot_kind::again ? again_begun_ : begun_;
  if (!begun) {
    if (!room(0)) return false;
    put(first, m->header, nullptr, 0);
    begun = true;
    fragment_offset_ = 0;
  }
  const std::size_t all = m->header.payload_bytes;
  while (fragment_offset_ < all) {
    const std::size_t bytes = std::min<std::size_t>(all - fragment_offset_, ring_.fragment_bytes_max());
    if (!room(rounded(bytes))) return false;
    put_data(m->body() + fragment_offset_, bytes);
    message_header length;
    length.payload_bytes = static_cast<std::uint32_t>(bytes);
    put(slot_kind::fragment, length, nullptr, 0);
    fragment_offset_ += bytes;
  }
  begun = false;
  m.reset();
  return true;
}

void ring_writer::pin(message_ptr& m) {
  const std::byte* const body = m->body();
  put(slot_kind::fetch, m->header, &body, sizeof body);
  held_bytes_ += held_bytes_of(*m);
  ++pins_;
  pinned_.push_back(std::move(m));
}

bool ring_writer::release_fetched() {
  if (pinned_.empty()) return false;
  // Pairs with the reader's store after its last read of the memory that is released here.
  const std::uint64_t fetched = shared(ring_.reader->fetched).load();
  if (fetched < pins_freed_ || fetched > pins_) {
    broken_ = true;
    return false;
  }
  const bool moved = pins_freed_ < fetched;
  for (; pins_freed_ < fetched; ++pins_freed_) {
    const message_ptr m = pinned_.pop_front();
    held_bytes_ -= held_bytes_of(*m);
  }
  return moved;
}

/// When the reader no longer can fetch, queues the pinned messages to be written again. True when there are any.
bool ring_writer::take_back() {
  // Pairs with the reader's store, which follows its announcement of the last payload that it has fetched.
  if (pinned_.empty() || told_fetching(std::memory_order_seq_cst) != fetching::refused) return false;
  release_fetched();
  again_.append(pinned_);
  return !again_.empty();
}

/// Whether a slot and `data` bytes are free.
bool ring_writer::room(std::uint64_t data) {
  const auto known = [&] { return slots_written_ < slots_free_until_ && data_written_ + data <= data_free_until_; };
  if (known()) return true;
  look_again();
  return known();
}

void ring_writer::look_again() {
  // Both pair with the stores in ring_reader::announce_when_due; the reader no longer touches the announced room.
  const std::uint64_t slots = shared(ring_.reader->slots_consumed).load();
  const std::uint64_t data = shared(ring_.reader->data_consumed).load();
  const bool sound = slots <= slots_written_ && slots + ring_.slot_count >= slots_free_until_ &&
                     data <= data_written_ && data + ring_.data_bytes >= data_free_until_;
  if (!sound) {
    broken_ = true;
    slots_free_until_ = 0;  // no room any more
    return;
  }
  slots_free_until_ = slots + ring_.slot_count;
  data_free_until_ = data + ring_.data_bytes;
}

void ring_writer::put_data(const std::byte* source, std::size_t bytes) {
  const std::uint64_t index = data_written_ & (ring_.data_bytes - 1);
  const std::size_t first = std::min<std::size_t>(bytes, ring_.data_bytes - index);
  std::memcpy(ring_.data + index, source, first);
  std::memcpy(ring_.data, source + first, bytes - first);
  data_written_ += rounded(bytes);
}

/// Fills the next slot and publishes the one before it.
void ring_writer::put(slot_kind kind, const message_header& header, const void* extra, std::size_t extra_bytes) {
  if (unpublished_stamp_ != 0) {
    slot& previous = ring_.slots[(slots_written_ - 1) & (ring_.slot_count - 1)];
    // release: pairs with the reader's load of the stamp
    shared(previous.stamp).store(unpublished_stamp_, std::memory_order_release);
    published_ = true;
  }
  slot& next = ring_.slots[slots_written_ & (ring_.slot_count - 1)];
  next.header = header;
  if (extra_bytes != 0) std::memcpy(next.extra, extra, extra_bytes);
  unpublished_stamp_ = make_stamp(slots_written_, kind);
  ++slots_written_;
}

void ring_writer::publish() {
  if (unpublished_stamp_ == 0) return;
  // seq_cst: the loads of the reader's mode and its futex follow this store
  shared(ring_.slots[(slots_written_ - 1) & (ring_.slot_count - 1)].stamp).store(unpublished_stamp_);
  unpublished_stamp_ = 0;
  published_ = true;
}

}  // namespace nacre::transport::shm
