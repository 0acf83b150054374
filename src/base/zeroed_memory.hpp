// SPDX-License-Identifier: Apache-2.0
// Zeroed memory of any length, in huge pages where they pay.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/cache_line.hpp"
#include "base/page_chunks.hpp"

namespace nacre {

/// Owns the memory, which begins on a cache line. Long pieces take memory only where they have been written.
class zeroed_memory {
 public:
  /// `bytes`: a multiple of a cache line. The first `surely_used` of them may be all that is ever touched: where they
  /// are little of a huge page, they lie in small pages, as the kernel clears a page whole.
  explicit zeroed_memory(std::size_t bytes, std::size_t surely_used = page_chunks::huge_page_bytes) : bytes_(bytes) {
    data_ = is_long() ? map_huge_pages(bytes) : std::aligned_alloc(cache_line_bytes, bytes);
    if (data_ == nullptr) throw std::bad_alloc();
    if (!is_long()) std::memset(data_, 0, bytes);
    if (is_long() && surely_used <= page_chunks::huge_page_bytes / 2) {
      constexpr std::size_t page = page_chunks::page_bytes;
      static_cast<void>(::madvise(data_, (surely_used + page - 1) / page * page, MADV_NOHUGEPAGE));  // advice only
    }
  }
  zeroed_memory(const zeroed_memory&) = delete;
  zeroed_memory& operator=(const zeroed_memory&) = delete;
  ~zeroed_memory() {
    if (is_long()) {
      ::munmap(data_, bytes_);
    } else {
      std::free(data_);
    }
  }
  [[nodiscard]] void* data() const noexcept { return data_; }

 private:
  [[nodiscard]] bool is_long() const noexcept { return bytes_ >= page_chunks::huge_page_bytes; }

  std::size_t bytes_;
  void* data_;
};

}  // namespace nacre
