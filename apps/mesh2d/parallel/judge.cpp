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

void judge_whole(const plan& plan, findings& findings) {
  for (const std::string& each : plan.faults) findings.fault(each);
  std::vector<std::uint8_t> present(plan.pieces);
  for (const std::uint32_t each : findings.pieces) {
    if (each < plan.pieces) present[each] = 1;
  }
  const auto absent = std::count(present.begin(), present.end(), 0);
  if (absent > 0) findings.fault(fmt::format("{} pieces of segments and interfaces are in no subdomain", absent));
  const double expected = plan.twice_area.value(), value = findings.twice_area.value();
  if (!(std::abs(value - expected) <= findings.area_error_max)) {
    findings.fault(fmt::format("the area is {:.17g}, that of the input {:.17g}; they may differ by {:.3g}", value / 2,
                               expected / 2, findings.area_error_max / 2));
  }
}

}  // namespace mesh2d
