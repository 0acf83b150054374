// SPDX-License-Identifier: Apache-2.0
// The set of peers that a rank polls, and the doorbells of all other peers.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "transport/shm/layout.hpp"

namespace nacre::transport::shm {

/// The reader polls the peers that have a place. Every other peer sets its bit among the doorbells once it has
/// published. A job with no more peers than places polls them all and rings no doorbell: a message then costs the
/// transfer of one cache line. In a larger job a peer that has rung moves to a place that has brought nothing for a
/// while.
///
/// Invariant: no message is missed. All accesses are seq_cst, so they have one order:
///
/// | writer | reader | therefore |
/// |---|---|---|
/// | publishes; reads the mode, rings if asked to | evicts: sets the mode; reads stamps | one sees the other's store |
/// | publishes; sets its bit | takes bits; reads the stamps of the set ones | stamp seen, or bit set afterwards |
/// | publishes, rings if asked to; reads the futex | sets the futex; reads bits, stamps | one sees the other's store |
///
/// A bit that was taken stays pending here until the peer's rings have been found empty. Only the polling thread calls
/// this, but for `polled`, `places_used` and `rung`: any thread.
class poll_set {
 public:
  static constexpr std::size_t places = 4;

  /// For a job of that many ranks. `admit` gives its peers their places.
  poll_set(segment_head& head, std::uint32_t ranks) : head_(head), pending_((ranks + 63) / 64), ranks_(ranks) {}

  /// Whether there are more peers than places.
  [[nodiscard]] bool uses_doorbells() const noexcept { return ranks_ > places + 1; }

  /// The peer in a place, if any. Any thread.
  [[nodiscard]] std::optional<std::uint32_t> polled(std::size_t index) const noexcept {
    const std::uint32_t value = places_[index].peer.load(std::memory_order_relaxed);  // a view that may be a moment old
    return value == 0 ? std::nullopt : std::optional(value - 1);
  }
  /// The number of places that can have a peer: the first ones. Any thread.
  [[nodiscard]] std::size_t places_used() const noexcept { return std::min<std::size_t>(places, ranks_ - 1); }
  /// Whether a doorbell has rung and was not taken yet, or was taken and still pends. Any thread.
  [[nodiscard]] bool rung() const noexcept;

  /// Gives a peer a free place. False when there is none. The caller sets the mode of the peer's rings.
  [[nodiscard]] bool admit(std::uint32_t peer);
  /// The peer has ended: it loses its place, and pends no more.
  void remove(std::uint32_t peer);
  /// Counts a poll of a place, with or without a message.
  void note(std::size_t index, bool hit) noexcept { places_[index].misses = hit ? 0 : places_[index].misses + 1; }
  /// A place with a peer that may be evicted, because misses_max polls or more in a row have found nothing there.
  [[nodiscard]] std::optional<std::size_t> idle_place() const noexcept;
  /// Gives the place to another peer.
  void assign(std::size_t index, std::uint32_t peer) noexcept;

  /// Moves the doorbells that have rung to the pending bits. False when nothing pends.
  bool take_doorbells() noexcept;
  /// The next pending peer of this round, each once; nothing at the end. Each round begins one rank further.
  [[nodiscard]] std::optional<std::uint32_t> next_pending(std::uint32_t& cursor) const noexcept;
  void set_pending(std::uint32_t peer, bool pends) noexcept;
  [[nodiscard]] std::uint32_t begin_round() noexcept { return round_ = (round_ + 1) % ranks_; }

 private:
  static constexpr std::uint32_t misses_max = 64;

  struct place {
    std::atomic<std::uint32_t> peer{0};  // its rank + 1; 0: free
    std::uint32_t misses = 0;
  };

  segment_head& head_;
  std::array<place, places> places_;
  std::vector<std::uint64_t> pending_;
  std::atomic<bool> any_pending_{false};
  std::uint32_t ranks_;
  std::uint32_t round_ = 0;
};

}  // namespace nacre::transport::shm
