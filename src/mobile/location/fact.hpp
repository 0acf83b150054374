// SPDX-License-Identifier: Apache-2.0
// What a rank believes about the place of an object.
#pragma once

#include <atomic>
#include <cstdint>

#include <nacre/ids.hpp>

namespace nacre {

/// A place and the epoch in which it was true. The epoch rises by one with each migration and travels with the object, so
/// of two facts about one object the one with the larger epoch is the newer.
struct location_fact {
  rank_id rank;
  std::uint32_t epoch = 0;
  bool gone = false;  ///< destroyed there
  friend bool operator==(const location_fact&, const location_fact&) = default;
};

/// A fact that many lanes read, wait-free, and that only ever gets newer.
///
/// Invariant: the epoch never falls. (Updates that overtook newer ones trapped messages in cycles elsewhere:
/// charmplusplus/charm pull 3286.)
class shared_fact {
 public:
  explicit shared_fact(location_fact first) noexcept : bits_(encode(first)) {}

  /// acquire: pairs with the releases below; who sees a new place also sees what led to it.
  [[nodiscard]] location_fact read() const noexcept { return decode(bits_.load(std::memory_order_acquire)); }

  /// Takes the fact if its epoch is newer; says whether it did. Any lane.
  bool learn(location_fact newer) noexcept {
    std::uint64_t known = bits_.load(std::memory_order_relaxed);  // the exchange below decides
    while (decode(known).epoch < newer.epoch) {
      // release: pairs with read.
      if (bits_.compare_exchange_weak(known, encode(newer), std::memory_order_release, std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }

 private:
  static constexpr std::uint64_t encode(location_fact fact) noexcept {
    return (std::uint64_t{fact.epoch} << 32) | (std::uint64_t{fact.gone} << 31) | fact.rank.value();
  }
  static constexpr location_fact decode(std::uint64_t bits) noexcept {
    return {rank_id(static_cast<std::uint32_t>(bits) & 0x7fffffffU), static_cast<std::uint32_t>(bits >> 32),
            (bits >> 31 & 1) != 0};
  }
  std::atomic<std::uint64_t> bits_;
};

}  // namespace nacre
