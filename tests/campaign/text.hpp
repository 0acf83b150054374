// SPDX-License-Identifier: Apache-2.0
// Numbers in what the campaign reports.
#pragma once

#include <cstdint>
#include <string>

namespace campaign {

inline std::string text(std::uint64_t number) { return std::to_string(number); }

}  // namespace campaign
