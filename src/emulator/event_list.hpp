// SPDX-License-Identifier: Apache-2.0
// Lists of events of different lengths, one behind the other in chunks from a pool.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "base/zeroed_memory.hpp"
#include "emulator/event.hpp"

namespace nacre::emulator {

/// Memory that holds events one behind the other.
struct event_chunk {
  static constexpr std::size_t bytes = 4096 - 32;
  event_chunk* next;
  std::uint64_t used;
  alignas(32) std::byte events[bytes];  // the shortest events, of 32 bytes, lie within a line of the cache
};
static_assert(sizeof(event_chunk) == 4096);

/// Hands out chunks and takes them back. Its memory comes in slabs and is freed when it ends: a small one, then others
/// twice as large each, up to a huge page. The kernel clears a huge page whole: a small block does not pay for one, and
/// a large one does not pay for hundreds of small pages first. A chunk that has not been handed out is not touched. One
/// thread at a time.
class chunk_pool {
 public:
  /// A block in which much happens needs about `usual_bytes`.
  explicit chunk_pool(std::uint64_t usual_bytes) noexcept
      : growth_(usual_bytes >= page_chunks::huge_page_bytes ? page_chunks::huge_page_bytes / first_slab_bytes : 2) {}
  [[nodiscard]] event_chunk* take() {
    event_chunk* chunk = free_;
    if (chunk != nullptr) {
      free_ = chunk->next;
    } else {
      if (fresh_ == slab_end_) grow();
      chunk = ::new (static_cast<void*>(std::exchange(fresh_, fresh_ + sizeof(event_chunk)))) event_chunk;
    }
    chunk->next = nullptr;
    chunk->used = 0;
    return chunk;
  }
  void give_back(event_chunk* chunk) noexcept { chunk->next = std::exchange(free_, chunk); }
  /// All memory that the pool has allocated, in bytes.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  static constexpr std::size_t first_slab_bytes = 16 * sizeof(event_chunk);
  struct free_memory {
    void operator()(void* memory) const noexcept { std::free(memory); }
  };
  void grow() {
    const std::size_t bytes = next_slab_bytes_;
    next_slab_bytes_ = std::min(growth_ * bytes, page_chunks::huge_page_bytes);
    if (bytes < page_chunks::huge_page_bytes) {
      small_slabs_.emplace_back(std::aligned_alloc(cache_line_bytes, bytes));
      if (small_slabs_.back() == nullptr) throw std::bad_alloc();
      fresh_ = static_cast<std::byte*>(small_slabs_.back().get());
    } else {
      huge_slabs_.push_back(std::make_unique<zeroed_memory>(bytes));
      fresh_ = static_cast<std::byte*>(huge_slabs_.back()->data());
    }
    slab_end_ = fresh_ + bytes;
    bytes_ += bytes;
  }
  std::vector<std::unique_ptr<void, free_memory>> small_slabs_;
  std::vector<std::unique_ptr<zeroed_memory>> huge_slabs_;
  const std::size_t growth_;
  std::size_t next_slab_bytes_ = first_slab_bytes;
  std::byte* fresh_ = nullptr;  ///< from here to the end of the last slab no chunk has been handed out
  std::byte* slab_end_ = nullptr;
  std::uint64_t bytes_ = 0;
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
