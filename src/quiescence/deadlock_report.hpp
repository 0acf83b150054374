// SPDX-License-Identifier: Apache-2.0
// What ranks tell of themselves when a job stands still, how it is added up, and the line that is made of it.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <nacre/ids.hpp>

#include "quiescence/detector.hpp"

namespace nacre::quiescence {

/// What main does on a rank that is at rest.
enum class main_wait : std::uint8_t { result, quiescence, collective, room_to_send, end_of_job };
inline constexpr std::size_t main_waits = 5;

/// The sums over some ranks. Its size has a bound, however many ranks, handlers and objects there are.
struct deadlock_report {
  static constexpr std::size_t ranks_told_max = 4;     ///< by number, for each way in which main waits
  static constexpr std::size_t handlers_told_max = 4;  ///< by name

  /// The first of the ranks whose main waits in one way.
  struct rank_list {
    std::uint64_t count = 0;
    std::vector<std::uint32_t> first;

    template <class Archive>
    void serialize(Archive& ar) {
      ar(count, first);
    }
  };

  bool still = false;  ///< every rank is at rest, as in the wave before, and has done nothing between
  unit_counters units;
  std::uint64_t calls = 0;    ///< without a result
  std::uint64_t awaited = 0;  ///< those of them that suspended handlers await
  std::uint64_t own = 0;      ///< those of them that wait for the object whose handler awaits them
  std::array<rank_list, main_waits> mains;
  std::vector<std::string> handlers;  ///< which are suspended, and on what

  void note_main(rank_id rank, main_wait how);
  /// Adds what others have told.
  void add(const deadlock_report& more);

  template <class Archive>
  void serialize(Archive& ar) {
    ar(still, units.created, units.done, calls, awaited, own, mains, handlers);
  }
};

/// The line for standard error, with its end.
[[nodiscard]] std::string line_of_deadlock(const deadlock_report& all, std::chrono::nanoseconds lasted);
/// The line that follows when work goes on.
[[nodiscard]] std::string line_of_going_on(std::chrono::nanoseconds lasted);

}  // namespace nacre::quiescence
