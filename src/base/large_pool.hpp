// SPDX-License-Identifier: Apache-2.0
// A pool of large blocks: it keeps pages of the system for a while, since fresh pages cost more than a copy.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "base/cache_line.hpp"

namespace nacre {

/// The functions from which a large_pool gets its pages; tests pass functions that run out of memory.
struct page_source {
  void* (*map)(std::size_t bytes) noexcept;  ///< zeroed, on a page boundary; null when there are none
  void (*unmap)(void* position, std::size_t bytes) noexcept;
};
/// Returns the system's pages, huge ones where the kernel has them. Blocks smaller than a huge page share one, see
/// page_chunks.
[[nodiscard]] page_source system_pages() noexcept;

/// The bytes that a large pool holds.
struct large_statistics {
  std::uint64_t bytes_live = 0;  ///< given out
  std::uint64_t bytes_kept = 0;  ///< given back, and kept for reuse
};

/// A pool of memory blocks between 64 KiB and 64 MiB that all threads share. A block of 1 MiB fresh from the system
/// costs 256 page faults, several times the cost of copying 1 MiB. A kept block costs an uncontended lock.
///
/// | a block is | then |
/// |---|---|
/// | asked for, one of its class is kept | the block that came back last, since its pages are warm |
/// | asked for, none is kept | mapped; when that fails, all kept blocks are unmapped and mapping is tried once more |
/// | given back, within kept_bytes_max | kept |
/// | given back, beyond it | unmapped |
/// | kept, and its class never ran that low between two trims | unmapped by the second one |
///
/// Invariant: kept bytes never exceed kept_bytes_max. Classes are a quarter of a power of two apart, so that at most a
/// fifth of a block is waste. Any thread; each call is O(1) apart from unmapping.
class large_pool {
 public:
  static constexpr std::size_t bytes_min = 64 * 1024;  ///< a smaller block takes as much
  static constexpr std::size_t bytes_max = std::size_t{64} << 20;
  static constexpr std::chrono::nanoseconds trim_period = std::chrono::seconds(1);

  explicit large_pool(std::uint64_t kept_bytes_max, const page_source& pages = system_pages()) noexcept
      : kept_bytes_max_(kept_bytes_max), pages_(pages) {}
  large_pool(const large_pool&) = delete;
  large_pool& operator=(const large_pool&) = delete;
  ~large_pool() { drop_kept(); }

  /// Returns the class of blocks with `bytes` usable bytes; `bytes` is at most bytes_max.
  [[nodiscard]] static constexpr std::uint32_t class_of(std::size_t bytes) noexcept {
    if (bytes <= bytes_min) return 0;
    const std::size_t units = (bytes - 1) >> unit_bits;  // 4 for 64 KiB + 1
    const auto power = static_cast<std::uint32_t>(std::bit_width(units)) - 3;
    return power * 4 + static_cast<std::uint32_t>(units >> power) - 3;
  }
  /// Returns the bytes that a block of a class can hold.
  [[nodiscard]] static constexpr std::size_t usable_bytes(std::uint32_t size_class) noexcept {
    return std::size_t{size_class % 4 + 4} << (size_class / 4 + unit_bits);
  }

  /// Returns a block of at least usable_bytes(size_class) + slack_bytes, on a page boundary, with arbitrary content.
  /// Null when the system has no memory.
  [[nodiscard]] void* take(std::uint32_t size_class) noexcept;
  /// Gives back a block of that class. If the pool keeps it, its first 16 bytes stay unchanged until it is taken again.
  void give_back(void* block, std::uint32_t size_class) noexcept;

  /// Unmaps the blocks that no thread has needed for a trim_period. Called often, with the time of a clock that does
  /// not go backwards.
  void trim_when_due(std::chrono::nanoseconds now) noexcept {
    const std::int64_t due = trim_due_ns_.load(std::memory_order_relaxed);  // only a time
    if (now.count() >= due) trim_at(now, due);
  }
  /// Sets kept_bytes_max for blocks that come back from now on. When more is kept already, unmaps all kept blocks.
  void keep_at_most(std::uint64_t bytes) noexcept;
  /// Unmaps all kept blocks.
  void drop_kept() noexcept;
  [[nodiscard]] large_statistics statistics() const noexcept;

  /// Bytes of a block beyond usable_bytes, for headers in front of a round number of bytes.
  static constexpr std::size_t slack_bytes = 4096;

 private:
  static constexpr std::uint32_t unit_bits = 14;  // a quarter of bytes_min
  static constexpr std::uint32_t class_count = 41;

  /// Lies in the first bytes of a kept block.
  struct kept_block {
    std::array<std::byte, 16> left_alone;
    kept_block* older;
    kept_block* newer;
  };
  struct alignas(cache_line_bytes) size_class {
    std::mutex mutex;
    kept_block* newest = nullptr;
    kept_block* oldest = nullptr;
    std::size_t count = 0;
    std::size_t count_least = 0;  // since the last trim
  };

  [[nodiscard]] static constexpr std::size_t mapped_bytes(std::uint32_t index) noexcept {
    return usable_bytes(index) + slack_bytes;
  }
  [[nodiscard]] kept_block* pop(std::uint32_t index) noexcept;
  [[nodiscard]] bool reserve(std::size_t bytes) noexcept;
  void drop_oldest(std::uint32_t index, bool all) noexcept;
  void trim() noexcept;
  void trim_at(std::chrono::nanoseconds now, std::int64_t due) noexcept;

  std::atomic<std::uint64_t> kept_bytes_max_;
  const page_source pages_;
  std::array<size_class, class_count> classes_{};
  std::atomic<std::uint64_t> kept_bytes_{0};
  std::atomic<std::uint64_t> live_bytes_{0};
  std::atomic<std::int64_t> trim_due_ns_{0};
};
static_assert(large_pool::class_of(large_pool::bytes_max) == 40 &&
              large_pool::usable_bytes(40) == large_pool::bytes_max);

/// The large pool that allocate_block uses; it is never destroyed. It keeps up to process_large_bytes_kept_max until a
/// job sets another bound (the option spare_memory).
[[nodiscard]] large_pool& process_large_pool() noexcept;
inline constexpr std::uint64_t process_large_bytes_kept_max = std::uint64_t{64} << 20;

}  // namespace nacre
