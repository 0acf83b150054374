// SPDX-License-Identifier: Apache-2.0
// What a trace comes to: sums of lanes, handlers and pairs of ranks, and what went from one lane to another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "trace/trace_log.hpp"

namespace nacre::tool {

/// Times in nanoseconds.
struct lane_sums {
  std::int64_t work = 0, main = 0, runtime = 0, idle = 0;
  std::uint64_t handlers = 0;  ///< of the program and of the runtime
  std::uint64_t steals = 0;
};

struct handler_sums {
  std::uint64_t runs = 0;
  std::int64_t ns = 0;       ///< without what ran inside it
  std::int64_t longest = 0;  ///< piece without a wait
  bool of_runtime = false;
};

struct message_sums {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
};

/// From one track to another: an object that migrates, or work that is stolen. Tracks are numbered as in the log.
struct passage {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::size_t from = 0;
  std::size_t to = 0;
  std::uint64_t object = 0;
};

struct survey {
  std::vector<lane_sums> lanes;                                              ///< by track
  std::vector<handler_sums> handlers;                                        ///< by number
  std::map<std::pair<std::uint32_t, std::uint32_t>, message_sums> messages;  ///< by sender and receiver
  std::vector<passage> migrations;                                           ///< that arrived, by departure
  std::vector<passage> steals;                                               ///< by time
  std::uint64_t departures = 0;
  std::uint64_t created = 0;
  std::uint64_t waves = 0;
};

[[nodiscard]] survey take_survey(const trace::trace_log& log);

}  // namespace nacre::tool
