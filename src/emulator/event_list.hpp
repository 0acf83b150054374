// SPDX-License-Identifier: Apache-2.0
// Lists of events of different lengths, one behind the other in chunks from a pool.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "emulator/event.hpp"

namespace nacre::emulator {

/// Memory that holds events one behind the other.
struct event_chunk {
  static constexpr std::size_t bytes = 4096 - 16;
  event_chunk* next;
  std::uint64_t used;
  alignas(8) std::byte events[bytes];
};
static_assert(sizeof(event_chunk) == 4096);

/// Hands out chunks and takes them back. It allocates 256 of them at a time, and frees them when it ends. One thread at
/// a time.
class chunk_pool {
 public:
  [[nodiscard]] event_chunk* take() {
    if (free_ == nullptr) grow();
    event_chunk* const chunk = std::exchange(free_, free_->next);
    chunk->next = nullptr;
    chunk->used = 0;
    return chunk;
  }
  void give_back(event_chunk* chunk) noexcept { chunk->next = std::exchange(free_, chunk); }
  /// All memory that the pool has allocated, in bytes.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return slabs_.size() * slab_chunks * sizeof(event_chunk); }

 private:
  static constexpr std::size_t slab_chunks = 64;
  void grow() {
    slabs_.push_back(std::make_unique_for_overwrite<std::byte[]>(slab_chunks * sizeof(event_chunk)));
    std::byte* const slab = slabs_.back().get();
    for (std::size_t k = 0; k < slab_chunks; ++k) {
      give_back(::new (static_cast<void*>(slab + k * sizeof(event_chunk))) event_chunk);
    }
  }
  std::vector<std::unique_ptr<std::byte[]>> slabs_;
  event_chunk* free_ = nullptr;
};

/// A list of events. The owner gives its chunks back; the list itself is two pointers and a count.
class event_list {
 public:
  /// Appends room for an event of `bytes` bytes. The room stays where it is until the chunk is given back.
  [[nodiscard]] std::byte* append(chunk_pool& pool, std::size_t bytes) {
    if (tail_ == nullptr || tail_->used + bytes > event_chunk::bytes) [[unlikely]] {
      event_chunk* const chunk = pool.take();
      (tail_ == nullptr ? head_ : tail_->next) = chunk;
      tail_ = chunk;
    }
    std::byte* const room = tail_->events + tail_->used;
    tail_->used += bytes;
    ++count_;
    return room;
  }
  /// Moves all events of another list behind those of this one.
  void splice(event_list& other) noexcept {
    if (other.head_ == nullptr) return;
    (tail_ == nullptr ? head_ : tail_->next) = other.head_;
    tail_ = other.tail_;
    count_ += other.count_;
    other = {};
  }
  [[nodiscard]] bool empty() const noexcept { return head_ == nullptr; }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] event_chunk* head() const noexcept { return head_; }
  void clear(chunk_pool& pool) noexcept {
    while (head_ != nullptr) pool.give_back(std::exchange(head_, head_->next));
    *this = {};
  }
  /// Takes the first chunk off the list; the caller gives it back. The count stays.
  [[nodiscard]] event_chunk* take_chunk() noexcept {
    event_chunk* const first = head_;
    if (first != nullptr) head_ = first->next;
    if (head_ == nullptr) tail_ = nullptr;
    return first;
  }

 private:
  event_chunk* head_ = nullptr;
  event_chunk* tail_ = nullptr;
  std::uint64_t count_ = 0;
};

}  // namespace nacre::emulator
