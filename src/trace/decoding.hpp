// SPDX-License-Identifier: Apache-2.0
// Decodes the bytes of a block into events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "trace/event.hpp"

namespace nacre::trace {

/// Converts the ticks of a rank's events to the job's time.
struct tick_clock {
  double zero_ns = 0;  ///< the job's time at tick `zero_tick`, since the start of the job
  std::uint64_t zero_tick = 0;
  double ns_a_tick = 1;
  [[nodiscard]] std::int64_t ns(std::uint64_t tick) const;
};

/// Replaces the content of `events` by the events of a block; the time of the first event counts from `first_tick`.
/// Handlers that have shared readings of the clock become events of their own. Returns false, and leaves `events` of no
/// use, if the bytes are not events of a job of `ranks` ranks. The bytes may be any.
[[nodiscard]] bool decode_events(std::span<const std::byte> bytes, std::uint64_t first_tick, const tick_clock& time,
                                 std::uint32_t ranks, std::vector<event>& events);

}  // namespace nacre::trace
