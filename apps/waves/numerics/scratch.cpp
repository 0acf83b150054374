// SPDX-License-Identifier: Apache-2.0
// Room for the largest patch so far.
#include "scratch.hpp"

#include <algorithm>

namespace waves {

void scratch::fit(const patch_box& box) {
  if (box.nx == nx_ && box.ny <= ny_) return;
  nx_ = box.nx;
  ny_ = box.ny;
  length_ = row_length(box.nx) + lanes_max;  // points beside a row are not those beside the next one
  const std::ptrdiff_t count = slots * ny_ + slots + 3;
  memory_ = aligned_zeros(static_cast<std::size_t>(parts * length_ * count + 2 * lanes_max));
}

}  // namespace waves
