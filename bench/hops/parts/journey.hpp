// SPDX-License-Identifier: Apache-2.0
// An object that moves from rank to rank, and a sender that stays behind: what was to be counted, and what was.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <nacre/nacre.hpp>

namespace hops {

/// The object has moved to rank 0, which sends, from its home, the last rank of the job. From there
/// it moves to ranks 1, 2, ... `visits`; after every `every` moves rank 0 sends two messages, one after the other, and
/// waits for each reply (Clam section 4.2, figure 5, where the sender is the home as well).
struct plan {
  std::uint32_t visits = 4;
  std::uint32_t every = 1;  ///< divides visits
  std::size_t bytes = 0;    ///< that each message to the object brings along
  int runs = 1;
};

constexpr std::uint32_t ranks_of(const plan& plan) noexcept { return plan.visits + 2; }

/// Steps between ranks of messages to the object, and location updates, of all ranks together.
struct cost {
  std::uint64_t hops = 0, updates = 0;
  friend bool operator==(const cost&, const cost&) = default;
};

/// What happened since the stop before.
struct stop {
  std::uint32_t moves = 0;          ///< since the object has left the sender
  cost moving;                      ///< of the moves
  std::array<cost, 2> messages{};   ///< of the first and of the second message
  std::array<double, 2> seconds{};  ///< of their round trips; not predicted
  [[nodiscard]] bool costs_as(const stop& other) const {
    return moves == other.moves && moving == other.moving && messages == other.messages;
  }
};

/// What each stop costs in a job of so many ranks, by the definition of the policy alone.
[[nodiscard]] std::vector<stop> predicted(nacre::location_policy policy, const plan& plan, std::uint32_t ranks);

/// What it did. Collective; the answer is that of rank 0.
[[nodiscard]] std::vector<stop> counted(nacre::runtime& rt, nacre::location_policy policy, const plan& plan);

}  // namespace hops
