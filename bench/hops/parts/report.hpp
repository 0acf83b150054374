// SPDX-License-Identifier: Apache-2.0
// What was counted beside what was predicted, as a table, as JSON and as a picture.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "journey.hpp"

namespace hops {

/// Both for one policy; of what was counted a journey for each run.
struct comparison {
  nacre::location_policy policy;
  std::vector<stop> predicted;
  std::vector<std::vector<stop>> counted;

  /// Of one stop over all runs: counts that differ from the prediction if there are any, and the median of times.
  [[nodiscard]] stop at(std::size_t index) const;
};

/// Where it ran.
struct surroundings {
  std::uint32_t ranks;
  std::string transport;
};

[[nodiscard]] std::string table(const plan& plan, const surroundings& surroundings, const std::vector<comparison>& all);
[[nodiscard]] std::string json(const plan& plan, const surroundings& surroundings, const std::vector<comparison>& all);
[[nodiscard]] std::string picture(const plan& plan, const surroundings& surroundings,
                                  const std::vector<comparison>& all);
/// One line for each stop whose counts are not those predicted.
[[nodiscard]] std::string differences(const std::vector<comparison>& all);

}  // namespace hops
