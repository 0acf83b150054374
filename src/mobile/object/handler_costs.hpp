// SPDX-License-Identifier: Apache-2.0
// What messages take, by handler: so that a balancer sees what waits, not what an object did before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/cache_line.hpp"
#include "mobile/object/compact_estimate.hpp"

namespace nacre {

/// Moving averages over the steps of all objects of a rank, and how an object differs from them. The time of a message
/// is estimated as the mean of its handler times the *pace* of its object: an object may do both short and long things,
/// and be larger than others. Any thread; estimates.
class handler_costs {
 public:
  handler_costs(std::size_t handlers, std::size_t thread_contexts) : means_(handlers), typical_(thread_contexts) {}

  /// Seconds that a message to this handler takes on average. Of a handler that has not been measured: as a message to
  /// any other; 0 while none has been. Any number.
  [[nodiscard]] double of(std::uint32_t handler) const noexcept {
    const double known = handler < means_.size() ? means_[handler].load() : 0;
    return known > 0 ? known : mean_of_all_.load();
  }
  /// Learns from a step of `messages` messages to one handler, which took `seconds` each. Returns the pace of its
  /// object, which was `pace` before; 0: not known, as long as it has run nothing that takes time. The thread context
  /// `on` only.
  double learn(std::uint32_t on, std::uint32_t handler, double seconds, int messages, double pace) noexcept;

 private:
  /// Sums over recent steps of a thread context, in which each step weighs as much as it takes: short handlers, however
  /// many, say nothing about the size of an object.
  struct alignas(cache_line_bytes) recent {
    double seconds = 0, weighed = 0;
  };
  std::vector<compact_estimate> means_;  // by handler
  compact_estimate mean_of_all_;
  std::vector<recent> typical_;  // by thread context
};

}  // namespace nacre
