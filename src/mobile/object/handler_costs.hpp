// SPDX-License-Identifier: Apache-2.0
// What messages take, by handler: so that a balancer sees what waits, not what an object did before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/cache_line.hpp"
#include "mobile/entry/compact_estimate.hpp"

namespace nacre {

/// Means over the steps of all objects of a rank, and how an object differs from them. The time of a message is
/// estimated as the mean of its handler times the *pace* of its object: an object may do both short and long things,
/// and be larger than others. Any thread; estimates.
///
/// Each thread context has means of its own, and publishes one when it is far from the published one. So a single step
/// that was disturbed changes little, and workers seldom write what all of them read.
class handler_costs {
 public:
  handler_costs(std::size_t handlers, std::size_t thread_contexts)
      : published_(handlers), known_(thread_contexts, knowledge(handlers)) {}

  /// Seconds that a message to this handler takes on average; 0 while none has been measured.
  /// `handler` may be any number.
  [[nodiscard]] double of(std::uint32_t handler) const noexcept {
    return handler < published_.size() ? published_[handler].load() : 0;
  }

  /// While all messages that an object has run were too short or unmeasured, its pace is unknown; it counts as that of
  /// others.
  static constexpr double pace_of_others = 1e-30;
  [[nodiscard]] static constexpr bool is_known(double pace) noexcept { return pace > 2 * pace_of_others; }
  /// The factor by which an object's pace multiplies the mean times of handlers: the pace if known, else 1; 0 for an
  /// object that has run nothing.
  [[nodiscard]] static constexpr double factor(double pace) noexcept { return is_known(pace) || pace == 0 ? pace : 1; }

  /// Learns from a step of `messages` messages to one handler, which took `seconds` each. Returns the pace of its
  /// object, which was `pace` before; that stays unknown as long as the object has run nothing that takes time.
  /// The thread context `index` only.
  double learn(std::uint32_t index, std::uint32_t handler, double seconds, int messages, double pace) noexcept;

 private:
  /// The mean of the first steps, then a moving average.
  struct running_mean {
    double mean = 0;
    std::uint32_t steps = 0;
    void take(double value) noexcept;
  };
  struct alignas(cache_line_bytes) knowledge {
    explicit knowledge(std::size_t handlers) : means(handlers) {}
    std::vector<running_mean> means;  // by handler
    // Sums over recent steps, in which each step weighs as much as it takes: short handlers, however many, say nothing
    // about the size of an object.
    double seconds = 0, weighed = 0;
  };
  static void publish(const running_mean& running_mean, compact_estimate& estimate) noexcept;

  std::vector<compact_estimate> published_;  // by handler
  std::vector<knowledge> known_;             // by thread context
};

}  // namespace nacre
