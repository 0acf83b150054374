// SPDX-License-Identifier: Apache-2.0
// How answers of pieces are combined.
#include "parallel/plans.hpp"

#include <algorithm>
#include <cstddef>

namespace nbody {

body_box join_boxes::operator()(const body_box& a, const body_box& b) const {
  if (a.is_empty != 0) return b;
  if (b.is_empty != 0) return a;
  body_box both = a;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    both.low[axis] = std::min(a.low[axis], b.low[axis]);
    both.high[axis] = std::max(a.high[axis], b.high[axis]);
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
