// SPDX-License-Identifier: Apache-2.0
// Finds the known name that a misspelt name most likely means.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace nacre {

/// Returns the least number of insertions, deletions, substitutions and swaps of neighbours that turn one word into the
/// other, when no part is edited twice (restricted Damerau-Levenshtein distance).
[[nodiscard]] std::size_t edit_distance(std::string_view left, std::string_view right);

/// Returns the known name nearest to `name`, the first of equals; nothing when every known name is too far from it. The
/// cost depends on the lengths of the known names only, however long `name` is.
[[nodiscard]] std::optional<std::string_view> nearest_name(std::string_view name,
                                                           std::span<const std::string_view> known);

}  // namespace nacre
