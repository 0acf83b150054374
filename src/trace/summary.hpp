// SPDX-License-Identifier: Apache-2.0
// The summary that a run prints at its end: where the time went, and counts of messages, migrations and steals.
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
  std::uint64_t objects = 0;        ///< object entries in its directory at the end
  std::uint64_t looks = 0;          ///< calls of its balancer: ticks and messages
  double look_seconds = 0;          ///< time in these calls, without migration_seconds
  double resting_look_seconds = 0;  ///< the part of look_seconds while the rank had nothing else to do
  double migration_seconds = 0;     ///< time to send away the objects that the balancer chose
  std::uint64_t balancer_messages = 0, quiescence_messages = 0;  ///< parts of did.messages_sent
  std::string processors{};  ///< that its threads may use, such as "0-3"; "any" when they are not bound

  template <class Archive>
  void serialize(Archive& ar) {
    ar(rank, did, objects, looks, look_seconds, resting_look_seconds, migration_seconds, balancer_messages,
       quiescence_messages, processors);
  }
};

/// A phase of the program, by name: sums over the threads of a rank, or of all ranks.
struct phase_row {
  std::string name;
  std::uint64_t count = 0;
  double seconds = 0;          ///< without inner phases and waits
  double whole_seconds = 0;    ///< with inner phases
  double elapsed_seconds = 0;  ///< with waits, too
  double most_seconds = 0;     ///< the most `seconds` of a rank
  std::uint32_t most_rank = 0;

  template <class Archive>
  void serialize(Archive& ar) {
    ar(name, count, seconds, whole_seconds, elapsed_seconds, most_seconds, most_rank);
  }
};
/// Adds the rows of other ranks: one row for each name, sorted by name.
void merge(std::vector<phase_row>& sums, const std::vector<phase_row>& more);

/// The images that a run has taken, and the one that it has gone on from.
struct image_row {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;      ///< before compression, of all ranks
  double seconds = 0;           ///< in which the job stood still for them
  std::string restored{};       ///< path of the image that the run began from; empty: none
  double restored_seconds = 0;  ///< that the job had run by then

  template <class Archive>
  void serialize(Archive& ar) {
    ar(count, bytes, seconds, restored, restored_seconds);
  }
};

struct summary {
  double seconds = 0;
  std::string transport;
  std::string balancer;
  std::vector<worker_row> workers;
  std::vector<rank_row> ranks;
  std::vector<phase_row> phases{};
  image_row images{};

  template <class Archive>
  void serialize(Archive& ar) {
    ar(seconds, transport, balancer, workers, ranks, phases, images);
  }
};

/// A table for people. Of many workers or ranks, it shows the first and the last few.
[[nodiscard]] std::string as_text(const summary& summary);
/// All numbers of the summary.
[[nodiscard]] std::string as_json(const summary& summary);

}  // namespace nacre::trace
