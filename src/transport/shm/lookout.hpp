// SPDX-License-Identifier: Apache-2.0
// Which of many peers a rank looks at by itself, and which have to ring.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "transport/shm/layout.hpp"

namespace nacre::transport::shm {

/// The places of the peers that are polled, and the bells of the others. A job with no more peers than places polls
/// them all, and nobody rings: a message is one transfer of a line. In a larger one a peer whose bell was heard moves
/// to a place that has had nothing for a while.
///
/// Why nothing is lost (all accesses seq_cst, so that they have one order):
///
/// | writer | reader | either |
/// |---|---|---|
/// | publishes a stamp; reads the mode; if it is `bell`: rings | evicts: sets the mode to `bell`; reads the stamps |
/// the writer sees `bell` and rings, or the reader sees the stamp | | publishes a stamp; sets its bit | takes the bits;
/// reads the stamps of those that were set | the reader sees the stamp, or a bit that is set later | | publishes a
/// stamp; rings if need be; reads the alarm | sets the alarm; reads the bits, and the stamps of the polled; sleeps |
/// the writer sees the alarm, or the reader the bit or the stamp |
///
/// Bits that were taken stay pending here until the peer's rings have been found empty. The thread that polls; `polled`
/// and `rung` by any.
class lookout {
 public:
  static constexpr std::size_t places = 4;

  /// For a job of that many ranks. Its peers are settled by `admit`.
  lookout(segment_head& own, std::uint32_t ranks) : own_(own), pending_((ranks + 63) / 64), ranks_(ranks) {}

  /// Whether there are more peers than places.
  [[nodiscard]] bool uses_bells() const noexcept { return ranks_ > places + 1; }

  /// The peer in a place, if any. Any thread.
  [[nodiscard]] std::optional<std::uint32_t> polled(std::size_t at) const noexcept {
    const std::uint32_t value = places_[at].peer.load(std::memory_order_relaxed);  // a view that may be a moment old
    return value == 0 ? std::nullopt : std::optional(value - 1);
  }
  /// No place from here on has a peer. Any thread.
  [[nodiscard]] std::size_t places_used() const noexcept { return std::min<std::size_t>(places, ranks_ - 1); }
  /// Whether a bell has rung that nobody has taken, or one that was taken still pends. Any thread.
  [[nodiscard]] bool rung() const noexcept;

  /// Gives a peer a free place, if there is one: true; its mode is the caller's to set.
  [[nodiscard]] bool admit(std::uint32_t peer);
  /// The peer is gone.
  void remove(std::uint32_t peer);
  /// A place was looked at.
  void note(std::size_t at, bool hit) noexcept { places_[at].misses = hit ? 0 : places_[at].misses + 1; }
  /// Where a peer that was heard may move to, and who has to leave it: a place that was looked at in vain many times.
  [[nodiscard]] std::optional<std::size_t> vacancy() const noexcept;
  void settle(std::size_t at, std::uint32_t peer) noexcept;

  /// Takes what has rung. False when nothing pends.
  bool take_bells() noexcept;
  /// The next pending peer, each once, beginning behind the one where the last turn began; nothing at the end.
  [[nodiscard]] std::optional<std::uint32_t> next_pending(std::uint32_t& cursor) const noexcept;
  void set_pending(std::uint32_t peer, bool pends) noexcept;
  [[nodiscard]] std::uint32_t begin_turn() noexcept { return turn_ = (turn_ + 1) % ranks_; }

 private:
  static constexpr std::uint32_t misses_max = 64;

  struct place {
    std::atomic<std::uint32_t> peer{0};  // and 1; 0: free
    std::uint32_t misses = 0;
  };

  segment_head& own_;
  std::array<place, places> places_;
  std::vector<std::uint64_t> pending_;
  std::atomic<bool> any_pending_{false};
  std::uint32_t ranks_;
  std::uint32_t turn_ = 0;
};

}  // namespace nacre::transport::shm
