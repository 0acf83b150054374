// SPDX-License-Identifier: Apache-2.0
// What leaving costs a rank, by the packed size of an object.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace nacre {

/// Whether work of `seconds` is worth a migration that costs its sender `cost` seconds; work of 0 seconds has not been
/// measured, and is. The factor covers what the receiver pays: it unpacks the object, and later sends messages back to
/// objects that stayed.
[[nodiscard]] constexpr bool worth_migration(double seconds, double cost) noexcept {
  constexpr double times = 4;
  return !(seconds > 0) || seconds >= times * cost;
}

/// The least time that this rank needed to pack and send an object, for each range of sizes: by object where it is
/// small, by byte where it is large. The least, because interruptions only lengthen it. Large ranges are apart, because
/// what fits into caches is packed faster. Any thread; relaxed: estimates.
class migration_costs {
 public:
  /// An object of fewer packed bytes costs as much as an empty one, about.
  static constexpr std::size_t large_bytes_min = 16 * 1024;

  void learn(std::size_t bytes, double seconds) noexcept {
    range& size_range = ranges_[range_of(bytes)];
    size_range.moves.fetch_add(1, std::memory_order_relaxed);
    const double each = seconds / unit(bytes);
    if (each < size_range.least.load(std::memory_order_relaxed))
      size_range.least.store(each, std::memory_order_relaxed);
  }

  /// Seconds, from the range of these bytes or the next smaller one of which a few objects have left; 0 if there is
  /// none.
  [[nodiscard]] double of(std::size_t bytes) const noexcept {
    constexpr std::uint32_t few = 4;
    for (std::size_t index = range_of(bytes) + 1; index-- != 0;) {
      const range& known = ranges_[index];
      if (known.moves.load(std::memory_order_relaxed) < few) continue;
      return known.least.load(std::memory_order_relaxed) * (index == 0 ? 1 : static_cast<double>(bytes));
    }
    return 0;
  }

 private:
  struct range {
    std::atomic<std::uint32_t> moves{0};
    std::atomic<double> least{std::numeric_limits<double>::infinity()};  // a lost concurrent write does no harm
  };
  static constexpr std::size_t count = 7;  // the last one goes up to 2 GiB

  /// Each range of large objects goes up to 8 times its least size.
  [[nodiscard]] static std::size_t range_of(std::size_t bytes) noexcept {
    constexpr int bits_a_range = 3;
    if (bytes < large_bytes_min) return 0;
    return std::min<std::size_t>(1 + (std::bit_width(bytes / large_bytes_min) - 1) / bits_a_range, count - 1);
  }
  [[nodiscard]] static double unit(std::size_t bytes) noexcept {
    return bytes < large_bytes_min ? 1 : static_cast<double>(bytes);
  }

  std::array<range, count> ranges_;
};

}  // namespace nacre
