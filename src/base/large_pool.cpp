// SPDX-License-Identifier: Apache-2.0
// Large blocks: taken from the kept ones or from the system, and given back to it.
#include "base/large_pool.hpp"

#include <sys/mman.h>

#include <new>

#include "base/page_chunks.hpp"

namespace nacre {
namespace {

/// Never destroyed, like process_large_pool.
page_chunks& process_chunks() noexcept {
  alignas(page_chunks) static std::array<std::byte, sizeof(page_chunks)> place;
  static page_chunks* const all = new (place.data()) page_chunks;
  return *all;
}

void* map_pages(std::size_t bytes) noexcept {
  return bytes < page_chunks::huge_page_bytes ? process_chunks().map(bytes) : map_huge_pages(bytes);
}

void unmap_pages(void* position, std::size_t bytes) noexcept {
  if (bytes < page_chunks::huge_page_bytes) return process_chunks().unmap(position, bytes);
  ::munmap(position, bytes);
}

}  // namespace

page_source system_pages() noexcept { return {map_pages, unmap_pages}; }

void* large_pool::take(std::uint32_t index) noexcept {
  const std::size_t bytes = mapped_bytes(index);
  void* block = pop(index);
  if (block == nullptr) block = pages_.map(bytes);
  if (block == nullptr) {
    drop_kept();
    block = pages_.map(bytes);
  }
  if (block != nullptr) live_bytes_.fetch_add(bytes, std::memory_order_relaxed);  // a statistic: orders nothing
  return block;
}

large_pool::kept_block* large_pool::pop(std::uint32_t index) noexcept {
  size_class& size_class = classes_[index];
  const std::scoped_lock lock(size_class.mutex);
  kept_block* const block = size_class.newest;
  if (block == nullptr) return nullptr;
  size_class.newest = block->older;
  (size_class.newest == nullptr ? size_class.oldest : size_class.newest->newer) = nullptr;
  --size_class.count;
  if (size_class.count < size_class.count_least) size_class.count_least = size_class.count;
  kept_bytes_.fetch_sub(mapped_bytes(index), std::memory_order_relaxed);  // only reserve compares this sum
  return block;
}

void large_pool::give_back(void* memory, std::uint32_t index) noexcept {
  const std::size_t bytes = mapped_bytes(index);
  live_bytes_.fetch_sub(bytes, std::memory_order_relaxed);  // a statistic: orders nothing
  if (!reserve(bytes)) return pages_.unmap(memory, bytes);
  size_class& size_class = classes_[index];
  const std::scoped_lock lock(size_class.mutex);
  auto* const block = static_cast<kept_block*>(memory);
  block->older = size_class.newest;
  block->newer = nullptr;
  (size_class.newest == nullptr ? size_class.oldest : size_class.newest->newer) = block;
  size_class.newest = block;
  ++size_class.count;
}

/// Counts `bytes` as kept and returns true, if the bound allows; otherwise returns false.
bool large_pool::reserve(std::size_t bytes) noexcept {
  std::uint64_t kept = kept_bytes_.load(std::memory_order_relaxed);  // a sum; the blocks are behind the mutexes
  do {
    if (kept + bytes > kept_bytes_max_.load(std::memory_order_relaxed)) return false;  // only a number
  } while (!kept_bytes_.compare_exchange_weak(kept, kept + bytes, std::memory_order_relaxed));
  return true;
}

/// Unmaps the blocks that have been kept longest: as many as were never needed since the last trim, or all.
void large_pool::drop_oldest(std::uint32_t index, bool all) noexcept {
  size_class& size_class = classes_[index];
  kept_block* dropped = nullptr;
  {
    const std::scoped_lock lock(size_class.mutex);
    for (std::size_t left = all ? size_class.count : size_class.count_least; left > 0; --left) {
      kept_block* const block = size_class.oldest;
      size_class.oldest = block->newer;
      (size_class.oldest == nullptr ? size_class.newest : size_class.oldest->older) = nullptr;
      block->older = dropped;
      dropped = block;
      --size_class.count;
    }
    size_class.count_least = size_class.count;
  }
  while (dropped != nullptr) {
    kept_block* const next = dropped->older;
    pages_.unmap(dropped, mapped_bytes(index));
    kept_bytes_.fetch_sub(mapped_bytes(index), std::memory_order_relaxed);  // see reserve
    dropped = next;
  }
}

void large_pool::trim() noexcept {
  for (std::uint32_t index = 0; index < class_count; ++index) drop_oldest(index, false);
}

void large_pool::trim_at(std::chrono::nanoseconds now, std::int64_t due) noexcept {
  const std::int64_t next = (now + trim_period).count();
  if (trim_due_ns_.compare_exchange_strong(due, next, std::memory_order_relaxed)) trim();  // only a time
}

void large_pool::keep_at_most(std::uint64_t bytes) noexcept {
  kept_bytes_max_.store(bytes, std::memory_order_relaxed);               // only a number
  if (kept_bytes_.load(std::memory_order_relaxed) > bytes) drop_kept();  // the blocks are behind the mutexes
}

void large_pool::drop_kept() noexcept {
  for (std::uint32_t index = 0; index < class_count; ++index) drop_oldest(index, true);
}

large_statistics large_pool::statistics() const noexcept {
  // Two separate loads; no order between them is promised.
  return {.bytes_live = live_bytes_.load(std::memory_order_relaxed),
          .bytes_kept = kept_bytes_.load(std::memory_order_relaxed)};
}

large_pool& process_large_pool() noexcept {
  // Threads may release blocks after the static objects of the program are destroyed. So the pool registers no
  // destructor.
  alignas(large_pool) static std::array<std::byte, sizeof(large_pool)> place;
  static large_pool* const all = new (place.data()) large_pool(process_large_bytes_kept_max);
  return *all;
}

}  // namespace nacre
