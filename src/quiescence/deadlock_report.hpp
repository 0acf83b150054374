// SPDX-License-Identifier: Apache-2.0
// The report on a deadlock: the contributions of the ranks, their sums, and the line that users read.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <nacre/ids.hpp>

#include "base/report_lines.hpp"
#include "quiescence/detector.hpp"

namespace nacre::quiescence {

/// The event that main waits for on a rank that is at rest.
enum class main_wait : std::uint8_t { result, quiescence, collective, room_to_send, end_of_job };
inline constexpr std::size_t main_waits = 5;

/// The sums over some ranks. Its size is bounded for any number of ranks, handlers and objects.
struct deadlock_report {
  static constexpr std::size_t ranks_told_max = 4;     ///< ranks by number, for each way in which main waits
  static constexpr std::size_t handlers_told_max = 4;  ///< handlers by name

  /// The ranks on which main waits in one way: their count, and the numbers of the first few.
  struct rank_list {
    std::uint64_t count = 0;
    std::vector<std::uint32_t> first;

    template <class Archive>
    void serialize(Archive& ar) {
      ar(count, first);
    }
  };

  bool still = false;  ///< every rank is still, as deadlock_detector defines it
  unit_counters units;
  std::uint64_t running = 0;     ///< handlers and mains that have begun and not returned, nor done anything visible
  std::uint64_t waiting = 0;     ///< mains that wait
  std::uint64_t held_up = 0;     ///< coroutines that give up to wait when nothing happens any more
  std::uint64_t asked = 0;       ///< messages that mains have asked for and that have not come
  std::uint64_t calls = 0;       ///< calls that have no result yet
  std::uint64_t commands = 0;    ///< the part of `calls` that extension modules answer
  std::uint64_t awaited = 0;     ///< the part of `calls` that suspended handlers await
  std::uint64_t self_calls = 0;  ///< the part of `awaited` that handlers of the very object called have made
  std::array<rank_list, main_waits> mains;
  std::vector<std::string> unreturned;       ///< the part of `running` by name
  report_lines handlers{handlers_told_max};  ///< the suspended handlers and what each awaits, commands without answer

  void note_main(rank_id rank, main_wait main_wait);
  /// Adds the report of other ranks.
  void add(const deadlock_report& more);

  template <class Archive>
  void serialize(Archive& ar) {
    ar(still, units.created, units.done, running, waiting, held_up, asked, calls, commands, awaited, self_calls, mains,
       unreturned, handlers);
  }
};

/// The line that reports a deadlock on standard error, with its line end. `since`: when it began, after the start of
/// the job.
[[nodiscard]] std::string line_of_deadlock(const deadlock_report& all, std::chrono::nanoseconds lasted,
                                           std::chrono::nanoseconds since);
/// The line that follows when the deadlock has ended.
[[nodiscard]] std::string line_of_going_on(std::chrono::nanoseconds lasted);

}  // namespace nacre::quiescence
