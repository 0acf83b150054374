// SPDX-License-Identifier: Apache-2.0
// What decides what the numbers of an image mean.
#pragma once

#include <string>
#include <vector>

#include "numerics/problem.hpp"

namespace waves {

struct condition {
  std::string name;
  std::string value;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(name, value);
  }
};
using conditions = std::vector<condition>;

/// The grid and the step, receivers, sources and materials of a problem. Long lists, such as a raster's
/// materials, have a digest of all their bits.
[[nodiscard]] conditions conditions_of(const problem& problem);

/// Throws nacre::setup_error, which names the first condition that differs, with both values.
void demand_same(const conditions& image, const conditions& job);

}  // namespace waves
