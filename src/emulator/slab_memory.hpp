// SPDX-License-Identifier: Apache-2.0
// Memory for many small pieces that are freed together.
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

namespace nacre::emulator {

/// Hands out pieces, which it frees when it ends. Its memory comes in slabs: a small one, then others twice as large
/// each, up to a huge page. The kernel clears a huge page whole: a small block does not pay for one, and a large one
/// does not pay for hundreds of small pages first. What has not been handed out is not touched. One thread at a time.
class slab_memory {
 public:
  /// About `usual_bytes` will be taken.
  explicit slab_memory(std::uint64_t usual_bytes) noexcept
      : growth_(usual_bytes >= page_chunks::huge_page_bytes ? page_chunks::huge_page_bytes / first_bytes : 2) {}
  /// So many bytes, which begin on a cache line; their number is a multiple of one.
  [[nodiscard]] std::byte* take(std::size_t bytes) {
    if (static_cast<std::size_t>(end_ - fresh_) < bytes) [[unlikely]]
      grow(bytes);
    return std::exchange(fresh_, fresh_ + bytes);
  }
  /// All memory that has been allocated, in bytes.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  static constexpr std::size_t first_bytes = std::size_t{1} << 16;
  struct free_memory {
    void operator()(void* memory) const noexcept { std::free(memory); }
  };
  void grow(std::size_t least) {
    const std::size_t bytes = std::max(next_bytes_, least);
    next_bytes_ = std::min(growth_ * next_bytes_, page_chunks::huge_page_bytes);
    if (bytes < page_chunks::huge_page_bytes) {
      small_.emplace_back(std::aligned_alloc(cache_line_bytes, bytes));
      if (small_.back() == nullptr) throw std::bad_alloc();
      fresh_ = static_cast<std::byte*>(small_.back().get());
    } else {
      huge_.push_back(std::make_unique<zeroed_memory>(bytes));
      fresh_ = static_cast<std::byte*>(huge_.back()->data());
    }
    end_ = fresh_ + bytes;
    bytes_ += bytes;
  }

  std::vector<std::unique_ptr<void, free_memory>> small_;
  std::vector<std::unique_ptr<zeroed_memory>> huge_;
  const std::size_t growth_;
  std::size_t next_bytes_ = first_bytes;
  std::byte* fresh_ = nullptr;  ///< what lies from here to the end of the last slab has not been handed out
  std::byte* end_ = nullptr;
  std::uint64_t bytes_ = 0;
};

}  // namespace nacre::emulator
