// SPDX-License-Identifier: Apache-2.0
// Chunks of a fixed pool.
#include "base/fixed_pool.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <new>

#include <nacre/assert.hpp>

#include "base/page_chunks.hpp"
#include "base/sanitized.hpp"

namespace nacre {
namespace {

constexpr std::size_t chunk_bytes = page_chunks::huge_page_bytes;

}  // namespace

/// The head of a chunk: it lies at the beginning of the chunk's memory, and blocks follow from the next cache line on.
struct alignas(cache_line_bytes) fixed_pool::chunk {
  free_block* free = nullptr;
  std::byte* unused = nullptr;  // the part that was never given out
  std::size_t taken = 0;
  chunk* next = nullptr;  // in the list of chunks with room
  chunk* previous = nullptr;

  [[nodiscard]] bool full(std::size_t bytes) noexcept {
    return free == nullptr && unused + bytes > reinterpret_cast<std::byte*>(this) + chunk_bytes;
  }
};

fixed_pool::fixed_pool(std::size_t bytes, std::size_t alignment) noexcept : bytes_(bytes), alignment_(alignment) {
  NACRE_EXPECT(bytes >= sizeof(free_block) && bytes % alignment == 0 && alignment <= cache_line_bytes,
               "blocks that can lie side by side in a chunk");
}

fixed_pool::chunk& fixed_pool::chunk_of(void* block) noexcept {
  return *reinterpret_cast<chunk*>(reinterpret_cast<std::uintptr_t>(block) & ~(chunk_bytes - 1));
}

#if NACRE_UNDER_ASAN

// Each block comes from operator new, so that the sanitizer sees every use after its release.
void* fixed_pool::allocate() { return ::operator new (bytes_, std::align_val_t{alignment_}); }
void fixed_pool::release(void* block) noexcept { ::operator delete (block, std::align_val_t{alignment_}); }

#else

void* fixed_pool::allocate() {
  const std::scoped_lock lock(mutex_);
  if (with_room_.front() == nullptr) {
    void* const memory =
        chunks_ == 0 ? map_small_pages(chunk_bytes, chunk_bytes) : map_huge_pages(chunk_bytes, chunk_bytes);
    if (memory == nullptr) throw std::bad_alloc();
    auto* const result = new (memory) chunk;
    result->unused = static_cast<std::byte*>(memory) + sizeof(chunk);
    with_room_.push_front(*result);
    ++chunks_;
  }
  chunk& source = *with_room_.front();
  void* block = source.free;
  if (block != nullptr) {
    source.free = source.free->next;
  } else {
    block = source.unused;
    source.unused += bytes_;
  }
  ++source.taken;
  if (source.full(bytes_)) with_room_.remove(source);
  return block;
}

void fixed_pool::release(void* block) noexcept {
  const std::scoped_lock lock(mutex_);
  chunk& chunk = chunk_of(block);
  const bool was_full = chunk.full(bytes_);
  chunk.free = new (block) free_block{chunk.free};
  if (was_full) with_room_.push_front(chunk);
  if (--chunk.taken != 0 || (with_room_.front() == &chunk && chunk.next == nullptr)) return;
  with_room_.remove(chunk);
  --chunks_;
  ::munmap(&chunk, chunk_bytes);
}

#endif

std::size_t fixed_pool::bytes_held() const {
  const std::scoped_lock lock(mutex_);
  return chunks_ * chunk_bytes;
}

}  // namespace nacre
