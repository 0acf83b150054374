// SPDX-License-Identifier: Apache-2.0
// The agreement of all blocks on the window that they run next: two state machines without I/O.
//
//   coordinator | all reports of a round are in, some block has events  | grants the first window that has any, to all
//               | all reports are in, no block has events               | finished
//   block       | has a grant, and all bundles of the round before      | runs the window, sends bundles, reports
//
// A round is one window, run by all blocks. A report names the first window for which the block has events, in its own
// queue or in the bundles that it has just sent, and the blocks that it has sent a bundle to. So the coordinator knows
// a bound of the events in flight without waiting for them, and tells each block how many bundles it has to wait for.
//
// Invariants. (1) A block runs window w only after all events of windows up to w have reached it: the grant for w names
// w as the least of all reports, so events of earlier windows exist nowhere; events of window w that were sent in
// earlier rounds are in bundles that the grant counts; and in the round of w itself no block makes an event of w for
// another, because an event takes at least a window's width to reach another node. (2) Rounds of two blocks differ by
// at most one, so the parity of a round tells its bundles apart.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace nacre::emulator {

/// Collects the reports of all blocks, and decides the next window.
class window_coordinator {
 public:
  static constexpr std::uint64_t no_window = ~std::uint64_t{0};

  window_coordinator() = default;
  explicit window_coordinator(std::uint32_t blocks) : bundles_(blocks, 0), granted_(blocks, 0) {}

  /// Takes the report of one block for the present round. Returns true when it was the last one: the decision is made.
  bool report(std::uint64_t first_window, std::span<const std::uint32_t> bundled_to) {
    first_ = std::min(first_, first_window);
    for (const std::uint32_t block : bundled_to) ++bundles_[block];
    if (++reports_ < bundles_.size()) return false;
    decided_ = first_;
    granted_.swap(bundles_);
    std::fill(bundles_.begin(), bundles_.end(), 0);
    first_ = no_window;
    reports_ = 0;
    ++rounds_;
    return true;
  }
  /// The window of the decision; no_window when nothing is left.
  [[nodiscard]] std::uint64_t window() const noexcept { return decided_; }
  /// The bundles that a block waits for before it runs the window.
  [[nodiscard]] std::uint32_t bundles_for(std::uint32_t block) const noexcept { return granted_[block]; }
  [[nodiscard]] std::uint64_t rounds() const noexcept { return rounds_; }

 private:
  std::vector<std::uint32_t> bundles_, granted_;
  std::uint64_t first_ = no_window;
  std::uint64_t decided_ = no_window;
  std::uint64_t rounds_ = 0;
  std::size_t reports_ = 0;
};

/// Tells a block when it may run the window that it has been granted.
class window_gate {
 public:
  /// The round that the block has run last; the start is round 0. Bundles and reports carry it.
  [[nodiscard]] std::uint64_t round() const noexcept { return round_; }
  void grant(std::uint64_t window, std::uint32_t bundles) noexcept {
    window_ = window;
    bundles_ = bundles;
    granted_ = true;
  }
  /// A bundle has come that its sender made in `round`: the block's own round, or the one after.
  void bundle(std::uint64_t round) noexcept { ++arrived_[round % 2]; }
  /// The window to run now, if there is one; the block is then in the next round.
  [[nodiscard]] std::optional<std::uint64_t> pass() noexcept {
    if (!granted_ || arrived_[round_ % 2] < bundles_) return std::nullopt;
    granted_ = false;
    arrived_[round_ % 2] = 0;
    ++round_;
    return window_;
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(round_, window_, bundles_, granted_, arrived_);
  }

 private:
  std::uint64_t round_ = 0;
  std::uint64_t window_ = 0;
  std::uint32_t bundles_ = 0;
  bool granted_ = false;
  std::array<std::uint32_t, 2> arrived_{};
};

}  // namespace nacre::emulator
