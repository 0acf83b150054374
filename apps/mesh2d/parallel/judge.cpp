// SPDX-License-Identifier: Apache-2.0
// The verdict on the whole.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "parallel/plan.hpp"

namespace mesh2d {

void judge_whole(const plan& made, findings& found) {
  for (const std::string& each : made.faults) found.fault(each);
  std::vector<std::uint8_t> present(made.pieces);
  for (const std::uint32_t each : found.pieces) {
    if (each < made.pieces) present[each] = 1;
  }
  const auto absent = std::count(present.begin(), present.end(), 0);
  if (absent > 0) found.fault(fmt::format("{} pieces of segments and interfaces are in no subdomain", absent));
  const double expected = made.twice_area.value(), is = found.twice_area.value();
  if (!(std::abs(is - expected) <= found.area_error_max)) {
    found.fault(fmt::format("the area is {:.17g}, that of the input {:.17g}; they may differ by {:.3g}", is / 2,
                            expected / 2, found.area_error_max / 2));
  }
}

}  // namespace mesh2d
