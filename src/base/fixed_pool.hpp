// SPDX-License-Identifier: Apache-2.0
// A pool of densely packed blocks of one size, for objects that a program may have by the million.
#pragma once

#include <cstddef>
#include <mutex>

#include "base/cache_line.hpp"

#include "base/linked_list.hpp"

namespace nacre {

/// Blocks of one size without headers, cut from chunks of the size of a huge page. The pool finds a block's chunk by
/// the block's address. The first chunk has small pages, so that a pool of few blocks takes little memory and its first
/// allocation does not wait for 2 MiB to be zeroed. The other chunks are huge pages where the kernel has them.
///
/// | a block is | then |
/// |---|---|
/// | asked for, a chunk has room | a block that was given back there, or the next one that was never used |
/// | asked for, none has | the first one of a new chunk |
/// | given back, the last one of its chunk, and another chunk has room | the chunk goes back to the system |
///
/// Any thread. A call holds a lock for a few nanoseconds; a call that maps or unmaps a chunk holds it longer.
class fixed_pool {
 public:
  /// `bytes` is the size of a block, a multiple of `alignment`; `alignment` is at most cache_line_bytes.
  fixed_pool(std::size_t bytes, std::size_t alignment) noexcept;
  fixed_pool(const fixed_pool&) = delete;
  fixed_pool& operator=(const fixed_pool&) = delete;

  /// Never null: throws std::bad_alloc when the system has no memory.
  [[nodiscard]] void* allocate();
  void release(void* block) noexcept;

  /// Bytes of all chunks, in use or not.
  [[nodiscard]] std::size_t bytes_held() const;

 private:
  struct free_block {
    free_block* next;
  };
  struct chunk;
  [[nodiscard]] static chunk& chunk_of(void* block) noexcept;

  const std::size_t bytes_;
  [[maybe_unused]] const std::size_t alignment_;  // used under sanitizers alone
  mutable std::mutex mutex_;
  linked_list<chunk> with_room_;  // under mutex_, as is the next
  std::size_t chunks_ = 0;
};

}  // namespace nacre
