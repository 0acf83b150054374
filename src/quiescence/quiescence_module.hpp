// SPDX-License-Identifier: Apache-2.0
// Quiescence as a module of a running rank: the detector, its messages, and the actions that wait for quiescence.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include <nacre/runtime.hpp>

#include "am/am_engine.hpp"
#include "base/clock.hpp"
#include "quiescence/detector.hpp"

namespace nacre {

/// Gives a detector its messages and its rank's counters. Requests come from any thread context; the poll loop does the
/// rest.
///
/// A rank at rest hands its counters over at once in two cases: they equal those that it last handed over, or it hands
/// them over for the first time since quiescence was declared. Otherwise the counters must first stay unchanged for a
/// while. This delay begins with a microsecond and doubles with every wave that has found them changed, up to `calm`.
/// The reason: ranks that wait for each other's messages are at rest again and again. Without the delay, waves would
/// follow each other as fast as the network allows, and double the traffic of a ping-pong. The effect: a system that
/// has long been quiet is found quiet in the time of two waves. A system that has long been busy is found quiet `calm`
/// later.
///
/// While something is open and nothing happens, as in a deadlock, the root ends each wave
/// later, so that the ranks sleep: after 1 ms without a change it waits for a sixteenth of the time without one, 10 ms
/// at most. A change of its own counters ends that. Under simulation, where waiting costs no processor, it never waits.
class quiescence_module final : private quiescence::detector_host {
 public:
  /// `calm` is best longer than a round trip, and shorter than the time to wake a sleeping thread.
  quiescence_module(am_engine& messages, clock& time, std::chrono::nanoseconds calm,
                    std::unique_ptr<quiescence::detector> detector);

  /// While objects are held for an image, a request is answered by quiescence only, or also when all open units lie.
  enum class answer_by : std::uint8_t { quiescence, hold };
  /// Calls `action` on some thread context of this rank once the system has been quiet. The action must count the units
  /// that it starts as created before it returns.
  void request(thread_context& thread, std::function<void(thread_context&)> action,
               answer_by answer_by = answer_by::quiescence);
  /// Behind a hold: requests again what the declarations during the hold have not answered.
  void renew(thread_context& thread);
  /// Rank 0: how long, up to `now`, waves have found open units and no change; those before the latest request by
  /// answer_by::hold do not count.
  [[nodiscard]] std::chrono::nanoseconds stands_still_for(std::chrono::nanoseconds now) {
    const std::scoped_lock lock(mutex_);
    return detector_->still() ? now - stands_still_since_ : std::chrono::nanoseconds(0);
  }

  /// The poll loop calls this in every pass. `at_rest`: no worker of the rank has work and its main is not active.
  /// Returns the time, on the clock, by which it must be called again; nanoseconds::max() when only an arrival can
  /// change anything.
  std::chrono::nanoseconds poll(thread_context& thread, bool at_rest);

  /// Handles a message from the detector of another rank.
  void on_detector_message(context& ctx, quiescence::detector_message m);

  /// Whether a request of this rank is open.
  [[nodiscard]] bool asked() {
    const std::scoped_lock lock(mutex_);
    return !waiting_.empty();
  }
  /// How many requests of this rank are open that only quiescence answers.
  [[nodiscard]] std::size_t asked_for_quiescence() {
    const std::scoped_lock lock(mutex_);
    return static_cast<std::size_t>(std::count_if(
        waiting_.begin(), waiting_.end(), [](const waiting& each) { return each.answerer == answer_by::quiescence; }));
  }
  [[nodiscard]] quiescence::unit_counters counters() const;
  /// Messages that this rank's detector has sent to others. Any thread; exact while the rank is at rest.
  [[nodiscard]] std::uint64_t messages_sent() const noexcept { return sent_.load(std::memory_order_relaxed); }

 private:
  void send(rank_id target, const quiescence::detector_message& m) override;
  void declare(std::uint64_t last) override;
  void note_wish();
  [[nodiscard]] std::chrono::nanoseconds pause(std::chrono::nanoseconds now);

  am_engine& messages_;
  clock& time_;
  const std::chrono::nanoseconds calm_;
  quiescence::unit_counters last_seen_;         // the poll loop alone uses this and the next three
  std::chrono::nanoseconds changed_at_{0};      // the time when last_seen_ was first seen
  quiescence::unit_counters handed_over_;       // the counters of the last wave
  std::chrono::nanoseconds calm_now_{0};        // how long counters other than handed_over_ must stay unchanged
  std::chrono::nanoseconds handed_over_at_{0};  // the time of the last wave; used by the poll loop, as is still_since_
  std::optional<std::chrono::nanoseconds> still_since_;  // the first of the waves that have found no change
  std::mutex mutex_;
  std::unique_ptr<quiescence::detector> detector_;  // under mutex_
  thread_context* thread_ = nullptr;                // under mutex_: the caller of the detector
  struct waiting {
    std::uint64_t number;
    std::function<void(thread_context&)> action;
    answer_by answerer;
  };
  std::chrono::nanoseconds stands_still_since_{0};  // under mutex_: when the detector was still first
  std::deque<waiting> waiting_;                     // under mutex_
  std::atomic<bool> wanted_{false};                 // the detector waits for counters; a hint for the poll loop
  std::atomic<bool> still_{false};                  // detector::still; a hint for the poll loop
  std::atomic<std::uint64_t> sent_{0};              // a figure for the summary; orders nothing
};

}  // namespace nacre
