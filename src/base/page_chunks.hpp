// SPDX-License-Identifier: Apache-2.0
// Pages for blocks smaller than a huge page, cut from chunks of huge pages.
#pragma once

#include <cstddef>
#include <mutex>

#include "base/linked_list.hpp"

namespace nacre {

/// Cuts blocks of equal size from chunks of huge pages. What reads a block of 1 MiB in small pages, a copy as well as
/// the kernel that pins it for another process or fills it from a socket, looks up 256 of them, which is up to half of
/// its time.
///
/// | a block is | then |
/// |---|---|
/// | asked for, a chunk of its size has room | the first one that is free there |
/// | asked for, none has | the first one of a new chunk |
/// | given back, others of its chunk are in use | its memory goes back to the system, its addresses stay with the chunk
/// | | given back, the last one of its chunk | the chunk is unmapped |
///
/// A chunk takes memory only as far as its blocks have been written, in steps of 2 MiB where the kernel has huge pages.
/// Any thread.
class page_chunks {
 public:
  static constexpr std::size_t page_bytes = 4096;
  static constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;
  static constexpr std::size_t chunk_bytes = 4 * huge_page_bytes;
  static constexpr std::size_t blocks_max = 64;  ///< of a chunk

  page_chunks() = default;
  page_chunks(const page_chunks&) = delete;
  page_chunks& operator=(const page_chunks&) = delete;

  /// Zeroed pages; null when the system has none. `bytes`: a multiple of page_bytes, less than huge_page_bytes.
  [[nodiscard]] void* map(std::size_t bytes) noexcept;
  /// `at` came from `map` with the same number.
  void unmap(void* at, std::size_t bytes) noexcept;

 private:
  struct chunk;

  std::mutex mutex_;
  linked_list<chunk> with_room_;
};

/// So many bytes on a boundary of huge pages, for which the kernel is asked to use them; null when there are none.
[[nodiscard]] void* map_huge_pages(std::size_t bytes, std::size_t boundary = page_chunks::huge_page_bytes) noexcept;

/// The same in small pages, even where the kernel uses huge ones unasked: each takes memory when it is written.
[[nodiscard]] void* map_small_pages(std::size_t bytes, std::size_t boundary) noexcept;

}  // namespace nacre
