// SPDX-License-Identifier: Apache-2.0
// From the bytes of a block to events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "trace/event.hpp"

namespace nacre::trace {

/// The clock of a rank's events, beside that of the job.
struct tick_clock {
  double zero_ns = 0;  ///< since the start of the job: when it stood at `zero_tick`
  std::uint64_t zero_tick = 0;
  double ns_a_tick = 1;
  [[nodiscard]] std::int64_t ns(std::uint64_t tick) const;
};

/// Replaces what `into` holds by the events of a block, whose first counts from `first_tick`. Handlers that have shared
/// readings of the clock come one by one. False, and `into` of no use, if these are not events of a job of so many
/// ranks. Any bytes will do.
[[nodiscard]] bool decode_events(std::span<const std::byte> bytes, std::uint64_t first_tick, const tick_clock& time,
                                 std::uint32_t ranks, std::vector<event>& into);

}  // namespace nacre::trace
