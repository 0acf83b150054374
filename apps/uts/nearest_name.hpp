// SPDX-License-Identifier: Apache-2.0
// The known name that a mistyped one most likely meant.
#pragma once

#include <span>
#include <string_view>

namespace uts {

/// Whether both are equal, letter case of ASCII aside.
[[nodiscard]] bool equal_ignoring_case(std::string_view a, std::string_view b) noexcept;

/// The candidate that needs the fewest insertions, deletions, replacements and swaps of neighbours to become `name`,
/// letter case aside; the first of several. Requires at least one candidate.
[[nodiscard]] std::string_view nearest_name(std::string_view name, std::span<const std::string_view> candidates);

}  // namespace uts
