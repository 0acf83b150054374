// SPDX-License-Identifier: Apache-2.0
// Quiescence as a part of a running rank: the detector, its messages, and who waits for its word.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include <nacre/runtime.hpp>

#include "am/am_engine.hpp"
#include "base/clock.hpp"
#include "quiescence/detector.hpp"

namespace nacre {

/// Gives a detector its messages and its rank's counters. Requests come from any thread context; the poll loop does the rest.
///
/// A rank at rest hands its counters over at once if they are what it last handed over, or if it hands them over for the
/// first time since it was told of quiescence. Else they must have stood still for a while, which begins with a microsecond
/// and doubles with every wave that has found them changed, up to `calm`. Ranks that wait for each other's messages are at
/// rest again and again; without that, waves would follow each other as fast as the network allows, and double the traffic
/// of a ping-pong. So a system that has long been quiet is found quiet in the time of two waves, and one that has been busy
/// for long `calm` later.
class quiescence_module final : private quiescence::detector_host {
 public:
  /// `calm` is best longer than a round trip, and shorter than a sleeping hand-over.
  quiescence_module(am_engine& messages, clock& time, std::chrono::nanoseconds calm,
                    std::unique_ptr<quiescence::detector> detector);

  /// Calls `action` on some thread context of this rank once the system has been quiet; what it starts must have been counted as
  /// created when it returns.
  void request(thread_context& by, std::function<void(thread_context&)> action);

  /// Inside the poll loop, at every turn. `at_rest`: no worker of the rank has work and its main is not active. Returns
  /// when it must be called again at the latest, on the clock; nanoseconds::max() when only an arrival can change
  /// anything.
  std::chrono::nanoseconds poll(thread_context& by, bool at_rest);

  /// For the detectors of other ranks.
  void on_detector_message(context& ctx, quiescence::detector_message m);

  /// Whether anybody here waits to be told of quiescence.
  [[nodiscard]] bool asked() {
    const std::scoped_lock lock(mutex_);
    return !waiting_.empty();
  }
  [[nodiscard]] quiescence::unit_counters counters() const;

 private:
  void send(rank_id to, const quiescence::detector_message& m) override;
  void declare(std::uint64_t last) override;
  void note_wish();

  am_engine& messages_;
  clock& time_;
  const std::chrono::nanoseconds calm_;
  quiescence::unit_counters last_seen_;     // used by the poll loop alone, as are the next three
  std::chrono::nanoseconds changed_at_{0};  // when they were first seen
  quiescence::unit_counters handed_over_;   // at the last wave
  std::chrono::nanoseconds calm_now_{0};    // for how long they must stand still, if they are not those
  std::mutex mutex_;
  std::unique_ptr<quiescence::detector> detector_;  // under mutex_
  thread_context* by_ = nullptr;                    // under mutex_: who is calling the detector
  struct waiting {
    std::uint64_t number;
    std::function<void(thread_context&)> action;
  };
  std::deque<waiting> waiting_;      // under mutex_
  std::atomic<bool> wanted_{false};  // the detector waits for counters; a hint for the poll loop
};

}  // namespace nacre
