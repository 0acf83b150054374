// SPDX-License-Identifier: Apache-2.0
// Lists of events of different lengths, one behind the other in chunks from a pool.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#include "base/cache_line.hpp"
#include "emulator/event.hpp"
#include "emulator/slab_memory.hpp"

namespace nacre::emulator {

/// Memory that holds events one behind the other. `used` counts once the chunk is no list's last one: all chunks begin
/// at the same place of a page, so thousands of heads that are written in turn would drive each other out of the cache.
struct event_chunk {
  static constexpr std::size_t bytes = 4096 - 32;
  event_chunk* next;
  std::uint64_t used;
  alignas(32) std::byte events[bytes];  // the shortest events, of 32 bytes, lie within a line of the cache
};
static_assert(sizeof(event_chunk) == 4096);

/// Hands out chunks and takes them back. One thread at a time.
class chunk_pool {
 public:
  /// A block in which much happens needs about `usual_bytes`.
  explicit chunk_pool(std::uint64_t usual_bytes) noexcept : memory_(usual_bytes) {}
  [[nodiscard]] event_chunk* take() {
    event_chunk* chunk = free_;
    if (chunk != nullptr) {
      free_ = chunk->next;
    } else {
      chunk = ::new (static_cast<void*>(memory_.take(sizeof(event_chunk)))) event_chunk;
    }
    chunk->next = nullptr;
    return chunk;
  }
  void give_back(event_chunk* chunk) noexcept { chunk->next = std::exchange(free_, chunk); }
  /// All memory that the pool has allocated, in bytes.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return memory_.bytes(); }

 private:
  slab_memory memory_;
  event_chunk* free_ = nullptr;
};

/// A list of events. The owner gives its chunks back; the list itself is three words, and appending touches
/// nothing else but the event's room.
class event_list {
 public:
  /// Appends room for an event of `bytes` bytes. The room stays where it is until the chunk is given back.
  [[nodiscard]] std::byte* append(chunk_pool& pool, std::size_t bytes) {
    if (tail_ == nullptr || used_ + bytes > event_chunk::bytes) [[unlikely]] {
      event_chunk* const chunk = pool.take();
      seal();
      (tail_ == nullptr ? head_ : tail_->next) = chunk;
      tail_ = chunk;
      used_ = 0;
    }
    std::byte* const room = tail_->events + used_;
    used_ += static_cast<std::uint32_t>(bytes);
    ++count_;
    return room;
  }
  /// Moves all events of another list behind those of this one.
  void splice(event_list& other) noexcept {
    if (other.head_ == nullptr) return;
    seal();
    (tail_ == nullptr ? head_ : tail_->next) = other.head_;
    tail_ = other.tail_;
    used_ = other.used_;
    count_ += other.count_;
    other = {};
  }
  [[nodiscard]] bool empty() const noexcept { return head_ == nullptr; }
  [[nodiscard]] std::uint32_t count() const noexcept { return count_; }
  /// Calls visit(const event&) for each event; lengths.of(event) is its length.
  template <class Lengths, class Visit>
  void for_each(const Lengths& lengths, Visit visit) const {
    for (const event_chunk* chunk = head_; chunk != nullptr; chunk = chunk->next) {
      const std::byte* const end = chunk->events + used_in(*chunk);
      for (const std::byte* position = chunk->events; position != end;) {
        const event& e = *reinterpret_cast<const event*>(position);
        position += lengths.of(e);
        visit(e);
      }
    }
  }
  /// Asks for the memory of the first events.
  [[gnu::always_inline]] void fetch() const noexcept {
    if (head_ == nullptr) return;
    const std::size_t bytes = head_ == tail_ ? used_ : event_chunk::bytes;
    for (std::size_t index = 0; index < bytes; index += cache_line_bytes) __builtin_prefetch(head_->events + index);
  }
  /// Calls visit(const std::byte* events, std::size_t bytes) for each chunk.
  template <class Visit>
  void for_each_chunk(Visit visit) const {
    for (const event_chunk* chunk = head_; chunk != nullptr; chunk = chunk->next) visit(chunk->events, used_in(*chunk));
  }
  void clear(chunk_pool& pool) noexcept {
    while (head_ != nullptr) pool.give_back(std::exchange(head_, head_->next));
    *this = {};
  }
  /// Takes the first chunk off the list; the caller gives it back. The count stays.
  [[nodiscard]] event_chunk* take_chunk() noexcept {
    event_chunk* const first = head_;
    if (first == nullptr) return nullptr;
    if (first == tail_) seal();
    head_ = first->next;
    if (head_ == nullptr) tail_ = nullptr;
    return first;
  }

 private:
  [[nodiscard]] std::size_t used_in(const event_chunk& chunk) const noexcept {
    return &chunk == tail_ ? used_ : chunk.used;
  }
  void seal() noexcept {
    if (tail_ != nullptr) tail_->used = used_;
  }

  event_chunk* head_ = nullptr;
  event_chunk* tail_ = nullptr;
  std::uint32_t used_ = 0;  ///< bytes of the last chunk
  std::uint32_t count_ = 0;
};
static_assert(sizeof(event_list) == 24);

}  // namespace nacre::emulator
