// SPDX-License-Identifier: Apache-2.0
// A line through logarithms.
#include "fit.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace sweep {

std::optional<double> exponent_of(const std::vector<point>& points, double least_seconds) {
  constexpr std::size_t last = 3;
  std::vector<point> kept;
  for (const point& each : points) {
    if (each.seconds >= least_seconds) kept.push_back(each);
  }
  if (kept.size() > last) kept.erase(kept.begin(), kept.end() - last);
  if (kept.size() < 2) return std::nullopt;
  double x = 0, y = 0, xx = 0, xy = 0;
  for (const point& each : kept) {
    const double log_n = std::log(static_cast<double>(each.n)), log_seconds = std::log(each.seconds);
    x += log_n;
    y += log_seconds;
    xx += log_n * log_n;
    xy += log_n * log_seconds;
  }
  const auto count = static_cast<double>(kept.size());
  return (count * xy - x * y) / (count * xx - x * x);
}

}  // namespace sweep
