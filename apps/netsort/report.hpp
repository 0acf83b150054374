// SPDX-License-Identifier: Apache-2.0
// What netsort prints.
#pragma once

#include <cstdint>
#include <string>

#include "options.hpp"
#include "rounds.hpp"

namespace netsort {

/// Where it ran.
struct surroundings {
  std::uint32_t ranks;
  std::string transport;
  std::string location;
};

[[nodiscard]] std::string result_text(const options& asked, const surroundings& surroundings,
                                      const sort_report& report);
[[nodiscard]] std::string result_json(const options& asked, const surroundings& surroundings,
                                      const sort_report& report);

}  // namespace netsort
