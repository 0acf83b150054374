// SPDX-License-Identifier: Apache-2.0
// Building of child tables.
#include "child_table.hpp"

#include <algorithm>
#include <cmath>

namespace uts {
namespace {

/// The least draw in [first, draw_end] for which the formula gives more than `k` children; draw_end if there is none.
std::uint32_t first_draw_above(std::uint32_t k, double mean, std::uint32_t first) {
  std::uint32_t low = first;
  std::uint32_t high = draw_end;
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (geometric_children(mean, middle) > k) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

}  // namespace

child_table child_table::constant(std::uint32_t children) noexcept { return binomial(1.0, children); }

child_table child_table::binomial(double q, std::uint32_t children) noexcept {
  child_table table;
  table.children_ = children;
  // draw / 2^31 < q exactly when draw < q * 2^31: both scalings by a power of two are exact.
  if (children > 0) table.inner_count_ = static_cast<std::uint32_t>(std::ceil(q * draw_end));
  return table;
}

child_table child_table::geometric(double mean) noexcept {
  child_table table;
  table.kind_ = kind::drawn;
  std::uint32_t threshold = 0;
  for (std::uint32_t k = 0; k < children_max; ++k) {
    threshold = first_draw_above(k, mean, threshold);
    table.thresholds_[k] = threshold;
  }
  table.thresholds_[children_max] = draw_end;
  table.inner_first_ = table.thresholds_[0];
  table.inner_count_ = draw_end - table.inner_first_;
  for (std::uint32_t slot = 0; slot < slot_count; ++slot) {
    const auto above = std::upper_bound(table.thresholds_.begin(), table.thresholds_.end(), slot << slot_shift);
    table.first_candidate_[slot] = static_cast<std::uint8_t>(above - table.thresholds_.begin());
  }
  return table;
}

child_table child_table::formula() noexcept {
  child_table table;
  table.kind_ = kind::formula;
  table.inner_count_ = draw_end;
  return table;
}

}  // namespace uts
