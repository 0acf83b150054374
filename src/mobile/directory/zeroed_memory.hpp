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
  /// `bytes`: a multiple of a cache line.
  explicit zeroed_memory(std::size_t bytes) : bytes_(bytes) {
    data_ = is_long() ? map_huge_pages(bytes) : std::aligned_alloc(cache_line_bytes, bytes);
    if (data_ == nullptr) throw std::bad_alloc();
    if (!is_long()) std::memset(data_, 0, bytes);
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
