// SPDX-License-Identifier: Apache-2.0
// The location of an object, as far as a rank knows it.
#pragma once

#include <atomic>
#include <cstdint>

#include <nacre/ids.hpp>
#include <nacre/location.hpp>

namespace nacre {

/// A place and the epoch in which the object was there. The epoch rises by one with each migration and travels with the
/// object, so of two locations of one object the one with the larger epoch is newer. At equal epochs, a location told
/// by the object's place is better than a `by_home` one.
struct known_location {
  rank_id rank;  ///< at most object_id::home_max
  std::uint32_t epoch = 0;
  location_policy policy = location_policy::of_program;  ///< of the object; of_program while the rank does not know
  bool by_home = false;  ///< only under the policy home: the object left this rank for that place and may have moved
                         ///< on, so messages go through its home
  bool gone = false;     ///< destroyed there
  bool backlog = false;  ///< the object left with a backlog: messages for it go back to their sources, and those of
                         ///< this rank wait, until the object has cleared all messages that wait here
  friend bool operator==(const known_location&, const known_location&) = default;
};

/// With this epoch an object stays where it is, and a place of an array takes no further element: the numbers above are
/// left for the end of what is there. An epoch must not wrap, because a rank may know a location that is any number of
/// moves old.
inline constexpr std::uint32_t last_epoch_of_moves = ~std::uint32_t{0} - 0xff;

/// A location that many threads read, wait-free, and that only ever gets newer. It is one atomic word, which also
/// records whether the rank numbers messages here, or collects the entry.
///
/// Invariant: the epoch never falls. (Updates that overtook newer ones trapped messages in cycles elsewhere:
/// charmplusplus/charm pull 3286.)
///
/// | use | keep | collect |
/// |---|---|---|
/// | none | sent, true | collected, true, if the epoch is still the caller's |
/// | sent: the rank numbers its messages here | true | false |
/// | collected: the entry is about to go | false: look for another entry | false |
class shared_location {
 public:
  explicit shared_location(known_location first) noexcept : bits_(encode(first)) {}

  /// acquire: pairs with the releases below; a reader that sees a new place also sees the writes before it.
  [[nodiscard]] known_location read() const noexcept { return decode(bits_.load(std::memory_order_acquire)); }

  /// Takes the location if it is newer or better; returns whether it did. Any thread.
  bool learn(known_location newer) noexcept {
    std::uint64_t known = bits_.load(std::memory_order_relaxed);  // the exchange below decides
    while (better(newer, decode(known))) {
      // release: pairs with read.
      if (bits_.compare_exchange_weak(known, encode(newer) | (known & use_bits), std::memory_order_release,
                                      std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }
  /// Ends the backlog of that epoch: no message of this rank waits for the object any more, so messages are sent at
  /// once again. Any thread. Relaxed is enough: it publishes nothing itself, and a reader of its value still
  /// synchronizes with the `learn` before it, because a read-modify-write continues the release sequence.
  void end_backlog(std::uint32_t epoch) noexcept {
    std::uint64_t known = bits_.load(std::memory_order_relaxed);
    while ((known & backlog_bit) != 0 && decode(known).epoch == epoch) {
      if (bits_.compare_exchange_weak(known, known & ~backlog_bit, std::memory_order_relaxed)) return;
    }
  }

  // The use depends on this word alone and publishes nothing: relaxed.

  /// This rank numbers its messages here from now on. False: the entry is collected. Any thread.
  [[nodiscard]] bool keep() noexcept {
    std::uint64_t known = bits_.load(std::memory_order_relaxed);
    if ((known & sent_bit) == 0) known = bits_.fetch_or(sent_bit, std::memory_order_relaxed);
    return (known & collected_bit) == 0;
  }
  /// Ends the use. False: the rank numbers its messages here, or the epoch is another one.
  [[nodiscard]] bool collect(std::uint32_t epoch) noexcept {
    std::uint64_t known = bits_.load(std::memory_order_relaxed);
    while ((known & (sent_bit | collected_bit)) == 0 && decode(known).epoch == epoch) {
      if (bits_.compare_exchange_weak(known, known | collected_bit, std::memory_order_relaxed)) return true;
    }
    return false;
  }
  [[nodiscard]] bool sent() const noexcept { return (bits_.load(std::memory_order_relaxed) & sent_bit) != 0; }
  [[nodiscard]] bool collected() const noexcept { return (bits_.load(std::memory_order_relaxed) & collected_bit) != 0; }

  /// Marks the entry as listed for collection. False: it was listed already.
  [[nodiscard]] bool list() noexcept {
    return (bits_.fetch_or(listed_bit, std::memory_order_acq_rel) & listed_bit) == 0;  // pairs with unlist
  }
  void unlist() noexcept { bits_.fetch_and(~listed_bit, std::memory_order_acq_rel); }  // pairs with list

 private:
  static constexpr std::uint64_t one = 1;
  static constexpr std::uint64_t rank_bits = (one << object_id::home_bits) - 1;
  static constexpr unsigned policy_place = object_id::home_bits;
  static constexpr std::uint64_t listed_bit = one << 27, collected_bit = one << 28, sent_bit = one << 29;
  static constexpr std::uint64_t backlog_bit = one << 30, gone_bit = one << 31;
  static constexpr std::uint64_t use_bits = listed_bit | collected_bit | sent_bit;
  static constexpr std::uint64_t by_home_code = 7;  // policy bits: home, and by_home
  static_assert(location_policy_names.size() < by_home_code && policy_place + 3 <= 27);

  static constexpr bool better(known_location a, known_location b) noexcept {
    return a.epoch != b.epoch ? a.epoch > b.epoch : b.by_home && !a.by_home;
  }
  static constexpr std::uint64_t encode(known_location location) noexcept {
    const std::uint64_t policy = location.by_home ? by_home_code : static_cast<std::uint8_t>(location.policy);
    return std::uint64_t{location.epoch} << 32 | (location.gone ? gone_bit : 0) | (location.backlog ? backlog_bit : 0) |
           policy << policy_place | (location.rank.value() & rank_bits);
  }
  static constexpr known_location decode(std::uint64_t bits) noexcept {
    const std::uint64_t policy = bits >> policy_place & 7;
    const bool by_home = policy == by_home_code;
    return {rank_id(static_cast<std::uint32_t>(bits & rank_bits)),
            static_cast<std::uint32_t>(bits >> 32),
            by_home ? location_policy::home : static_cast<location_policy>(policy),
            by_home,
            (bits & gone_bit) != 0,
            (bits & backlog_bit) != 0};
  }
  std::atomic<std::uint64_t> bits_;
};

}  // namespace nacre
