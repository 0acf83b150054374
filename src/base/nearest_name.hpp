// SPDX-License-Identifier: Apache-2.0
// Guesses which known name a misspelt one was meant to be.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace nacre {

/// How many insertions, deletions, substitutions and swaps of neighbours turn one word into the other, when no part is
/// edited twice (Damerau-Levenshtein in its restricted form).
[[nodiscard]] std::size_t edit_distance(std::string_view left, std::string_view right);

/// The known name nearest to `name`, the first of equals; nothing when all are so far that a guess would only confuse.
/// What it costs depends on the lengths of the known names, however long `name` is.
[[nodiscard]] std::optional<std::string_view> nearest_name(std::string_view name,
                                                           std::span<const std::string_view> known);

}  // namespace nacre
