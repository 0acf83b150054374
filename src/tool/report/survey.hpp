// SPDX-License-Identifier: Apache-2.0
// The totals of a trace: sums by track, handler and pair of ranks, and the migrations and steals between tracks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "trace/trace_log.hpp"

namespace nacre::tool {

/// The totals of one track, with times in nanoseconds.
struct track_sums {
  std::int64_t work = 0, main = 0, runtime = 0, idle = 0;
  std::uint64_t handlers = 0;  ///< of the program and of the runtime
  std::uint64_t steals = 0;
};

struct handler_sums {
  std::uint64_t runs = 0;
  std::int64_t ns = 0;       ///< without other handlers that ran inside it
  std::int64_t longest = 0;  ///< longest segment without a wait
  bool of_runtime = false;
};

/// A phase of the program, with times in nanoseconds.
struct phase_sums {
  std::uint64_t count = 0;                          ///< that have begun
  std::int64_t own_time = 0;                        ///< without inner phases and waits
  std::int64_t whole = 0;                           ///< with inner phases
  std::int64_t longest = 0;                         ///< longest span, with inner phases, without a wait
  std::map<std::uint32_t, std::int64_t> by_rank{};  ///< `own_time`
};
/// The share of the ranks in the time of a phase.
struct rank_share {
  std::int64_t mean_ns = 0;
  std::int64_t most_ns = 0;
  std::uint32_t most_rank = 0;
  [[nodiscard]] double imbalance() const noexcept {
    return mean_ns > 0 ? static_cast<double>(most_ns) / static_cast<double>(mean_ns) : 1;
  }
};
[[nodiscard]] rank_share share_of(const phase_sums& phase, std::uint32_t ranks);

struct message_sums {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
};

/// A transfer between tracks: an object that migrates, work that is stolen, or a message of which the program wants a
/// line. Tracks are numbered as in the log.
struct passage {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::size_t source = 0;
  std::size_t target = 0;
  std::uint64_t object = 0;
  std::uint64_t bytes = 0;    ///< of a message
  std::uint32_t handler = 0;  ///< of a message; 0: not known
};

/// Counts passages and keeps a bounded sample. At first it keeps every passage. Whenever more than `kept_max` are kept,
/// it drops every other one, and from then on keeps half as many of the passages that come.
class passage_list {
 public:
  explicit passage_list(std::size_t kept_max = 4'000'000) : kept_max_(kept_max) {}  // 160 MB
  void add(const passage& passage);
  std::uint64_t count = 0;  ///< of all
  std::vector<passage> kept;

 private:
  std::size_t kept_max_;
  std::uint64_t step_ = 1;
};

struct survey {
  std::vector<track_sums> tracks;                                            ///< by track
  std::vector<handler_sums> handlers;                                        ///< by number
  std::vector<phase_sums> phases;                                            ///< by number in trace_log::phases()
  std::map<std::pair<std::uint32_t, std::uint32_t>, message_sums> messages;  ///< by sender and receiver
  passage_list migrations;                                                   ///< arrived ones, by departure time
  passage_list steals;                                                       ///< by time
  passage_list traced;  ///< messages of which the program wants a line and that have arrived, by departure time
  std::map<std::uint32_t, message_sums> traced_sums;  ///< of all of these, by handler; 0: not known
  std::uint64_t departures = 0;
  std::uint64_t created = 0;
  std::uint64_t waves = 0;
};

/// The phases that have begun, those with the most time of their own first.
[[nodiscard]] std::vector<std::uint32_t> phases_by_time(const survey& sums);

[[nodiscard]] survey take_survey(const trace::trace_log& log);

}  // namespace nacre::tool
