// SPDX-License-Identifier: Apache-2.0
// Blocks smaller than a huge page, cut from chunks of huge pages.
#pragma once

#include <cstddef>
#include <mutex>

#include "base/linked_list.hpp"

namespace nacre {

/// Cuts blocks of equal size from chunks of huge pages. Why: a reader of a block of 1 MiB in small pages looks up 256
/// pages, which takes up to half of its time. This holds for a copy, and for the kernel when it pins the block for
/// another process or fills it from a socket.
///
/// | a block is | then |
/// |---|---|
/// | asked for, a chunk of its size has room | the first one that is free there |
/// | asked for, none has | the first one of a new chunk |
/// | given back, others of its chunk are in use | its memory goes back to the system; the chunk keeps its addresses |
/// | given back, the last one of its chunk | the chunk is unmapped |
///
/// A chunk takes memory only where its blocks have been written, in steps of 2 MiB where the kernel has huge pages. Any
/// thread.
class page_chunks {
 public:
  static constexpr std::size_t page_bytes = 4096;
  static constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;
  static constexpr std::size_t chunk_bytes = 4 * huge_page_bytes;
  static constexpr std::size_t blocks_max = 64;  ///< in a chunk

  page_chunks() = default;
  page_chunks(const page_chunks&) = delete;
  page_chunks& operator=(const page_chunks&) = delete;

  /// Returns zeroed pages; null when the system has none. `bytes` is a multiple of page_bytes and less than
  /// huge_page_bytes.
  [[nodiscard]] void* map(std::size_t bytes) noexcept;
  /// `position` came from `map` with the same number of bytes.
  void unmap(void* position, std::size_t bytes) noexcept;

 private:
  struct chunk;

  std::mutex mutex_;
  linked_list<chunk> with_room_;
};

/// Maps `bytes` aligned to `boundary` and asks the kernel to use huge pages for them. Null when the system has no
/// memory.
[[nodiscard]] void* map_huge_pages(std::size_t bytes, std::size_t boundary = page_chunks::huge_page_bytes) noexcept;

/// Maps `bytes` aligned to `boundary` in small pages, even where the kernel uses huge pages unasked. Each page takes
/// memory when it is written.
[[nodiscard]] void* map_small_pages(std::size_t bytes, std::size_t boundary) noexcept;

}  // namespace nacre
