// SPDX-License-Identifier: Apache-2.0
// What raw messages hold.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

#include "calibration/schedule.hpp"

namespace ladder {

using nacre::calibration::answer_bytes;
using nacre::calibration::stream_of;

/// Long messages of a stream are under way at the same time, so each has memory of its own, as it would in any program
/// that sends more than one value. A single message, as in a round trip, uses the same memory again and again. So do
/// short ones, which every transport copies away at once. Long ones lie in huge pages, without which a floor is lower.
class payloads {
 public:
  explicit payloads(std::size_t bytes)
      : stride_((std::max(bytes, answer_bytes) + page - 1) / page * page),
        count_(bytes < copied_below ? 1 : static_cast<std::size_t>(stream_of(bytes))),
        memory_(new_pages(), unmap{room() + huge_page}) {
    if (memory_.get() == MAP_FAILED) throw std::bad_alloc();
    const auto begin = reinterpret_cast<std::uintptr_t>(memory_.get());
    first_ = reinterpret_cast<char*>((begin + huge_page - 1) / huge_page * huge_page);
    if (bytes >= copied_below) ::madvise(first_, room(), MADV_HUGEPAGE);  // advice
    std::memset(first_, 'x', room());
  }

  /// That of the message at a position in its stream.
  [[nodiscard]] char* at(int position) const noexcept {
    return first_ + static_cast<std::size_t>(position) % count_ * stride_;
  }

 private:
  static constexpr std::size_t page = 4096;
  static constexpr std::size_t huge_page = std::size_t{2} << 20;
  static constexpr std::size_t copied_below = 4096;

  struct unmap {
    std::size_t bytes = 0;
    void operator()(void* memory) const noexcept { ::munmap(memory, bytes); }
  };
  [[nodiscard]] std::size_t room() const noexcept { return (stride_ * count_ + huge_page - 1) / huge_page * huge_page; }
  [[nodiscard]] void* new_pages() const noexcept {
    return ::mmap(nullptr, room() + huge_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }

  std::size_t stride_, count_;
  std::unique_ptr<void, unmap> memory_;
  char* first_ = nullptr;
};

}  // namespace ladder
