// SPDX-License-Identifier: Apache-2.0
// Virtual time of one simulated machine: what happens next, and how much time the running activity has spent.
#pragma once

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>

#include <nacre/assert.hpp>
#include "base/rng.hpp"
#include "machine/event_queue.hpp"

namespace nacre::machine {

/// What makes one simulation differ from another.
struct simulation_options {
  std::uint64_t seed = 1;
};

/// The event loop of a simulated machine. Everything is decided by the seed and by what the events do: the same program
/// with the same seed runs the same way, to the last word of the trace; another seed orders simultaneous events another
/// way. Resolution is one nanosecond, the range 292 years. Single-threaded.
class simulation {
 public:
  using action = machine::action;

  explicit simulation(simulation_options options) noexcept
      : seed_(options.seed), random_(rng(options.seed).fork(1)), queue_(rng(options.seed).fork(2)) {}

  /// The running event's time plus what its activity has spent; between events, the end of the last activity.
  [[nodiscard]] std::chrono::nanoseconds now() const noexcept {
    return std::chrono::nanoseconds(static_cast<std::int64_t>(event_ns_ + spent_ns_));
  }
  /// The time of the running event, without what has been spent. Never goes back; now() does, from event to event.
  [[nodiscard]] std::chrono::nanoseconds event_time() const noexcept {
    return std::chrono::nanoseconds(static_cast<std::int64_t>(event_ns_));
  }

  /// The running activity works for that long: moves now(), and leaves it to the activity to occupy whatever it runs on
  /// until then. Aborts when negative.
  void spend(std::chrono::nanoseconds duration) {
    NACRE_EXPECT(duration.count() >= 0, "time cannot be given back");
    spent_ns_ += static_cast<std::uint64_t>(duration.count());
  }

  /// Lets `run(subject, argument)` happen at `when`, which must not be before event_time(). Events of equal time happen
  /// in an order drawn from the seed. The subject must live until then.
  void at(std::chrono::nanoseconds when, action run, void* subject, std::uint64_t argument) {
    NACRE_EXPECT(when.count() >= 0, "time starts at zero");
    horizon_ns_ = std::max(horizon_ns_, static_cast<std::uint64_t>(when.count()));
    queue_.push({static_cast<std::uint64_t>(when.count()), run, subject, argument});
  }

  /// Runs the earliest event; false when there is none. Not from inside an event.
  bool step();

  /// Mixes words into the hash of everything that happened. Every event mixes its time; what it means is for those to
  /// add who know.
  template <std::convertible_to<std::uint64_t>... Words>
  void trace(Words... words) noexcept {
    (mix(static_cast<std::uint64_t>(words)), ...);
  }
  [[nodiscard]] std::uint64_t trace_hash() const noexcept { return hash_; }

  /// Events run so far.
  [[nodiscard]] std::uint64_t events() const noexcept { return events_; }
  /// Events that wait.
  [[nodiscard]] std::size_t pending() const noexcept { return queue_.size(); }
  /// The latest time for which an event has ever been set: what waits now has happened by then.
  [[nodiscard]] std::chrono::nanoseconds horizon() const noexcept {
    return std::chrono::nanoseconds(static_cast<std::int64_t>(horizon_ns_));
  }

  [[nodiscard]] std::uint64_t seed() const noexcept { return seed_; }
  /// Random numbers for whatever the events decide. A part that draws often forks a stream of its own.
  [[nodiscard]] rng& random() noexcept { return random_; }

 private:
  void mix(std::uint64_t word) noexcept {
    hash_ = (hash_ ^ word) * 0x9e3779b97f4a7c15U;
    hash_ ^= hash_ >> 32;
  }

  std::uint64_t seed_;
  std::uint64_t event_ns_ = 0;
  std::uint64_t spent_ns_ = 0;
  std::uint64_t horizon_ns_ = 0;
  std::uint64_t hash_ = 0;
  std::uint64_t events_ = 0;
  bool running_ = false;
  rng random_;
  event_queue queue_;
};

}  // namespace nacre::machine
