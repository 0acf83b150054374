// SPDX-License-Identifier: Apache-2.0
// Says on standard error that a simulation does not get on.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "exec/thread_context.hpp"
#include "machine/simulation.hpp"

namespace nacre {

/// The decisions of the watch, on plain numbers. A simulation runs in one thread, so a handler or main that does not
/// return stops it; and where nothing takes virtual time, events may follow each other at one instant for ever.
///
/// | at the looks of the last `patience` | reported, once |
/// |---|---|
/// | no event has begun | the event has not ended |
/// | events have begun, all at one instant | virtual time stands still |
/// | virtual time has advanced | that it goes on, if the line before said otherwise |
///
/// Time counts by looks, so that a process that was stopped as a whole is not blamed for that time.
class stalled_simulation {
 public:
  enum class finding : std::uint8_t { none, event_runs, time_stands_still, goes_on };
  struct numbers {
    std::uint64_t events = 0;
    std::chrono::nanoseconds instant{0};
  };
  /// A look, to be taken looks_in_patience times in the patience.
  [[nodiscard]] finding look(const numbers& now);
  /// The events at the present instant, since the first look that has seen it.
  [[nodiscard]] std::uint64_t events_here() const noexcept { return last_.events - first_here_; }
  /// The looks that the last trouble took.
  [[nodiscard]] unsigned looks() const noexcept { return looks_; }

  static constexpr unsigned looks_in_patience = 4;

 private:
  bool has_looked_ = false;
  numbers last_;
  std::uint64_t first_here_ = 0;  // number of events when virtual time was first seen at this instant
  unsigned same_event_ = 0;       // looks in a row at which no event had begun since the look before
  unsigned same_instant_ = 0;     // looks in a row at which virtual time had not advanced
  unsigned looks_ = 0;
  finding told_ = finding::none;
};

/// Looks at the simulation from a thread of its own while the object lives. To be made, and destroyed, by the thread
/// that runs the events. Where no thread can be started, nothing is watched.
class simulation_watch {
 public:
  /// `patience`: in wall-clock time; 0: nothing is watched.
  simulation_watch(const machine::simulation& watched, std::chrono::nanoseconds patience);
  simulation_watch(const simulation_watch&) = delete;
  simulation_watch& operator=(const simulation_watch&) = delete;
  ~simulation_watch();

 private:
  void watch();
  void tell(stalled_simulation::finding finding) const;
  [[nodiscard]] std::string running_code() const;

  const machine::simulation& machine_;
  const std::chrono::nanoseconds interval_;
  const std::atomic<const thread_context*>& actor_;  // of the thread that runs the events
  stalled_simulation state_;                         // the watching thread's
  std::mutex mutex_;
  std::condition_variable ended_;
  bool ends_ = false;  // under mutex_
  std::thread thread_;
};

}  // namespace nacre
