// SPDX-License-Identifier: Apache-2.0
// How answers of pieces are combined.
#include "parallel/plans.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace nbody {

bool is_finite(const body_box& box) noexcept {
  const auto finite = [](double coordinate) { return std::isfinite(coordinate); };
  return std::all_of(box.low.begin(), box.low.end(), finite) && std::all_of(box.high.begin(), box.high.end(), finite);
}

body_box join_boxes::operator()(const body_box& a, const body_box& b) const {
  if (a.is_empty != 0) return b;
  if (b.is_empty != 0) return a;
  body_box both = a;
  const auto is_nan = [](double coordinate) { return coordinate != coordinate; };  // it stays in the box
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (b.low[axis] < a.low[axis] || is_nan(b.low[axis])) both.low[axis] = b.low[axis];
    if (b.high[axis] > a.high[axis] || is_nan(b.high[axis])) both.high[axis] = b.high[axis];
  }
  return both;
}

walk_report join_reports::operator()(walk_report a, const walk_report& b) const {
  a.sums = append_all{}(std::move(a.sums), b.sums);
  a.times = append_all{}(std::move(a.times), b.times);
  a.counts += b.counts;
  a.finest_rung = std::max(a.finest_rung, b.finest_rung);
  a.active += b.active, a.hurried += b.hurried;
  return a;
}

}  // namespace nbody
