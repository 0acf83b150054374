// SPDX-License-Identifier: Apache-2.0
// Pages for blocks smaller than a huge page, cut from chunks of huge pages.
#include "base/page_chunks.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <new>

#include <nacre/assert.hpp>

namespace nacre {

/// Lies in the first page of its chunk; the blocks follow.
struct page_chunks::chunk {
  std::size_t block_bytes;
  std::uint64_t all;   // a bit for each block
  std::uint64_t free;  // a bit for each free block
  chunk* next = nullptr;
  chunk* previous = nullptr;

  [[nodiscard]] std::byte* block(int index) noexcept {
    return reinterpret_cast<std::byte*>(this) + page_bytes + static_cast<std::size_t>(index) * block_bytes;
  }
};

namespace {

void* map_advised(std::size_t bytes, std::size_t boundary, int advice) noexcept {
  // Maps one boundary more than needed, and unmaps the ends again.
  void* const mapped = ::mmap(nullptr, bytes + boundary, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  auto* const begin = static_cast<std::byte*>(mapped);
  const std::size_t previous = -reinterpret_cast<std::uintptr_t>(mapped) & (boundary - 1);
  if (previous != 0) ::munmap(begin, previous);
  ::munmap(begin + previous + bytes, boundary - previous);
  ::madvise(begin + previous, bytes, advice);  // a kernel without this advice changes nothing
  return begin + previous;
}

}  // namespace

void* map_huge_pages(std::size_t bytes, std::size_t boundary) noexcept {
  return map_advised(bytes, boundary, MADV_HUGEPAGE);
}

void* map_small_pages(std::size_t bytes, std::size_t boundary) noexcept {
  return map_advised(bytes, boundary, MADV_NOHUGEPAGE);
}

void* page_chunks::map(std::size_t bytes) noexcept {
  NACRE_EXPECT(bytes % page_bytes == 0 && bytes < huge_page_bytes, "whole pages, less than a huge one");
  const std::scoped_lock lock(mutex_);
  chunk* source = with_room_.front();
  while (source != nullptr && source->block_bytes != bytes) source = source->next;
  if (source == nullptr) {
    void* const memory = map_huge_pages(chunk_bytes, chunk_bytes);
    if (memory == nullptr) return nullptr;
    const std::size_t count = std::min((chunk_bytes - page_bytes) / bytes, blocks_max);
    const std::uint64_t all = ~std::uint64_t{0} >> (64 - count);
    source = new (memory) chunk{.block_bytes = bytes, .all = all, .free = all};
    with_room_.push_front(*source);
  }
  const int index = std::countr_zero(source->free);
  source->free &= source->free - 1;
  if (source->free == 0) with_room_.remove(*source);
  return source->block(index);
}

void page_chunks::unmap(void* position, std::size_t bytes) noexcept {
  const auto place = reinterpret_cast<std::uintptr_t>(position);
  auto* const subject = reinterpret_cast<chunk*>(place & ~(chunk_bytes - 1));
  NACRE_EXPECT(subject->block_bytes == bytes, "a block of another size than it was");
  const std::uint64_t bit = std::uint64_t{1} << (place % chunk_bytes - page_bytes) / bytes;
  const std::scoped_lock lock(mutex_);
  if (subject->free == 0) with_room_.push_front(*subject);
  subject->free |= bit;
  if (subject->free == subject->all) {
    with_room_.remove(*subject);
    ::munmap(subject, chunk_bytes);
  } else {
    ::madvise(position, bytes, MADV_DONTNEED);
  }
}

}  // namespace nacre
