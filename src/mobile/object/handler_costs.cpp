// SPDX-License-Identifier: Apache-2.0
// Means of handlers, and the pace of objects.
#include "mobile/object/handler_costs.hpp"

#include <algorithm>
#include <cmath>

namespace nacre {
namespace {

constexpr std::uint32_t steps_of_mean = 32;   // that a mean goes over, roughly
constexpr double weight_in_pace = 1.0 / 4;    // of a step in the average of its object
constexpr double kept_of_recent = 63.0 / 64;  // of the sums over recent steps, at each step
constexpr double published_within = 1.0 / 8;  // of the mean that a thread context has
constexpr double pace_max = 1e4;              // of an object: more is a mistake of measuring

}  // namespace

void handler_costs::running_mean::take(double value) noexcept {
  steps = std::min(steps + 1, steps_of_mean);
  mean += (value - mean) / steps;
}

void handler_costs::publish(const running_mean& running_mean, compact_estimate& estimate) noexcept {
  const double now = estimate.load();
  if (std::abs(running_mean.mean - now) > now * published_within) estimate.store(running_mean.mean);
}

double handler_costs::learn(std::uint32_t index, std::uint32_t handler, double seconds, int messages,
                            double pace) noexcept {
  if (handler >= published_.size()) return pace;
  const double previous = published_[handler].load();
  knowledge& knowledge = known_[index];
  knowledge.means[handler].take(seconds);
  publish(knowledge.means[handler], published_[handler]);
  const double spent = seconds * messages;
  knowledge.seconds = knowledge.seconds * kept_of_recent + spent;
  knowledge.weighed = knowledge.weighed * kept_of_recent + spent * seconds;
  const double share = std::min(1.0, seconds * knowledge.seconds / knowledge.weighed);  // of what steps usually take
  const double now = previous > 0 ? std::min(seconds / previous, pace_max) : 1;
  if (is_known(pace)) return pace + (now - pace) * weight_in_pace * share;
  return share > weight_in_pace ? now : pace_of_others;
}

}  // namespace nacre
