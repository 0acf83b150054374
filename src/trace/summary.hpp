// SPDX-License-Identifier: Apache-2.0
// What a run prints at its end: where the time went, and what was sent, forwarded, moved and stolen.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nacre/counters.hpp>

namespace nacre::trace {

/// One worker's share. Seconds are real ones, or virtual ones under simulation.
struct worker_row {
  std::uint32_t rank = 0;
  std::uint32_t worker = 0;
  double handler_seconds = 0;
  double runtime_seconds = 0;
  double idle_seconds = 0;
  std::uint64_t handlers = 0;
  std::uint64_t steals = 0;

  template <class Archive>
  void serialize(Archive& ar) {
    ar(rank, worker, handler_seconds, runtime_seconds, idle_seconds, handlers, steals);
  }
};

/// One rank's totals, over all its thread contexts.
struct rank_row {
  std::uint32_t rank = 0;
  rank_counters did{};
  std::uint64_t objects = 0;     ///< entries in its directory at the end
  std::uint64_t looks = 0;       ///< of its balancer: ticks and messages
  double look_seconds = 0;       ///< that they have taken, without:
  double migration_seconds = 0;  ///< what sending away the objects that it chose has taken

  template <class Archive>
  void serialize(Archive& ar) {
    ar(rank, did, objects, looks, look_seconds, migration_seconds);
  }
};

struct summary {
  double seconds = 0;
  std::string transport;
  std::string balancer;
  std::vector<worker_row> workers;
  std::vector<rank_row> ranks;

  template <class Archive>
  void serialize(Archive& ar) {
    ar(seconds, transport, balancer, workers, ranks);
  }
};

/// A table for people. With many workers, those between the first and last few are drawn together.
[[nodiscard]] std::string as_text(const summary& what);
/// The same numbers, all of them.
[[nodiscard]] std::string as_json(const summary& what);

}  // namespace nacre::trace
