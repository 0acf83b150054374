// SPDX-License-Identifier: Apache-2.0
// Moving averages of handlers and objects.
#include "mobile/object/handler_costs.hpp"

#include <algorithm>
#include <cmath>

namespace nacre {
namespace {

constexpr double weight_in_mean = 1.0 / 8;    // of a step in the average of its handler
constexpr double weight_in_pace = 1.0 / 4;    // and in that of its object
constexpr double kept_of_recent = 63.0 / 64;  // of the sums over recent steps, at each step
constexpr double pace_max = 1e4;              // of an object: more is a mistake of measuring

}  // namespace

double handler_costs::learn(std::uint32_t on, std::uint32_t handler, double seconds, int messages,
                            double pace) noexcept {
  if (handler >= means_.size()) return pace;
  const double known = means_[handler].load();
  const double mean = known > 0 ? known + (seconds - known) * weight_in_mean : seconds;
  if (std::abs(mean - known) > known / 64) means_[handler].store(mean);  // else all workers would write one cache line
  const double all = mean_of_all_.load(), mean_of_all = all > 0 ? all + (seconds - all) * weight_in_mean : seconds;
  if (std::abs(mean_of_all - all) > all / 64) mean_of_all_.store(mean_of_all);
  recent& steps = typical_[on];
  const double spent = seconds * messages;
  steps.seconds = steps.seconds * kept_of_recent + spent;
  steps.weighed = steps.weighed * kept_of_recent + spent * seconds;
  const double share = std::min(1.0, seconds * steps.seconds / steps.weighed);  // of what steps usually take
  const double now = known > 0 ? std::min(seconds / known, pace_max) : 1;
  if (pace > 0) return pace + (now - pace) * weight_in_pace * share;
  return share > weight_in_pace ? now : 0;
}

}  // namespace nacre
