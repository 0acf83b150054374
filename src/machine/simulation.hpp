// SPDX-License-Identifier: Apache-2.0
// The event loop of one simulated machine, and its virtual time.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>

#include <nacre/assert.hpp>
#include <nacre/rng.hpp>
#include "machine/event_queue.hpp"

namespace nacre::machine {

/// The options of a simulation.
struct simulation_options {
  std::uint64_t seed = 1;
};

/// The event loop of a simulated machine. Invariant: the seed and the events alone decide the run. The same program
/// with the same seed runs the same way, to the last word of the trace; another seed orders simultaneous events another
/// way. The resolution is one nanosecond, the range 292 years. Single-threaded.
class simulation {
 public:
  using action = machine::action;

  explicit simulation(simulation_options options) noexcept
      : seed_(options.seed), random_(rng(options.seed).fork(1)), queue_(rng(options.seed).fork(2)) {}

  /// Returns the running event's time plus the time that its activity has spent; between events, the end of the last
  /// activity.
  [[nodiscard]] std::chrono::nanoseconds now() const noexcept {
    return std::chrono::nanoseconds(static_cast<std::int64_t>(event_ns() + spent_ns_));
  }
  /// Returns the time of the running event, without the time spent. It never goes back; now() does, from event to
  /// event. Any thread.
  [[nodiscard]] std::chrono::nanoseconds event_time() const noexcept {
    return std::chrono::nanoseconds(static_cast<std::int64_t>(event_ns()));
  }

  /// Lets the running activity work for `duration`: advances now() and nothing else. The activity itself must occupy
  /// the processor that it runs on until then. Aborts when negative.
  void spend(std::chrono::nanoseconds duration) {
    NACRE_EXPECT(duration.count() >= 0, "time cannot be given back");
    spent_ns_ += static_cast<std::uint64_t>(duration.count());
  }

  /// Lets `run(subject, argument)` happen at `time`, which must not be before event_time(). Events of equal time happen
  /// in an order drawn from the seed. The subject must live until then.
  void at(std::chrono::nanoseconds time, action run, void* subject, std::uint64_t argument) {
    NACRE_EXPECT(time.count() >= 0, "time starts at zero");
    horizon_ns_ = std::max(horizon_ns_, static_cast<std::uint64_t>(time.count()));
    queue_.push({static_cast<std::uint64_t>(time.count()), run, subject, argument});
  }

  /// Runs the earliest event; returns false when there is none. Must not be called from inside an event.
  bool step();

  /// Mixes words into the hash of the whole run. The loop mixes in the time of every event; the code that runs in an
  /// event adds the event's meaning.
  template <std::convertible_to<std::uint64_t>... Words>
  void trace(Words... words) noexcept {
    (mix(static_cast<std::uint64_t>(words)), ...);
  }
  [[nodiscard]] std::uint64_t trace_hash() const noexcept { return hash_; }

  /// Events that have begun so far. Any thread.
  [[nodiscard]] std::uint64_t events() const noexcept { return events_.load(std::memory_order_relaxed); }
  /// Waiting events.
  [[nodiscard]] std::size_t pending() const noexcept { return queue_.size(); }
  /// Returns the latest time of any event that has been set so far: no waiting event is later.
  [[nodiscard]] std::chrono::nanoseconds horizon() const noexcept {
    return std::chrono::nanoseconds(static_cast<std::int64_t>(horizon_ns_));
  }

  [[nodiscard]] std::uint64_t seed() const noexcept { return seed_; }
  /// Random numbers for the decisions of events. A module that draws often forks a stream of its own.
  [[nodiscard]] rng& random() noexcept { return random_; }

 private:
  [[nodiscard]] std::uint64_t event_ns() const noexcept { return event_ns_.load(std::memory_order_relaxed); }
  void mix(std::uint64_t word) noexcept {
    hash_ = (hash_ ^ word) * 0x9e3779b97f4a7c15U;
    hash_ ^= hash_ >> 32;
  }

  std::uint64_t seed_;
  std::atomic<std::uint64_t> event_ns_{0};  // this and events_ are only numbers; other threads watch them
  std::uint64_t spent_ns_ = 0;
  std::uint64_t horizon_ns_ = 0;
  std::uint64_t hash_ = 0;
  std::atomic<std::uint64_t> events_{0};
  bool running_ = false;
  rng random_;
  event_queue queue_;
};

}  // namespace nacre::machine
