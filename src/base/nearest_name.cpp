// SPDX-License-Identifier: Apache-2.0
// The edit distance by dynamic programming over three rows.
#include "base/nearest_name.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace nacre {

std::size_t edit_distance(std::string_view left, std::string_view right) {
  std::vector<std::size_t> two_before(right.size() + 1), values(right.size() + 1), row(right.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= left.size(); ++i) {
    two_before.swap(values);
    values.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= right.size(); ++j) {
      const std::size_t substitution = values[j - 1] + (left[i - 1] == right[j - 1] ? 0 : 1);
      row[j] = std::min({values[j] + 1, row[j - 1] + 1, substitution});
      const bool swapped = i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1];
      if (swapped) row[j] = std::min(row[j], two_before[j - 2] + 1);
    }
  }
  return row[right.size()];
}

std::optional<std::string_view> nearest_name(std::string_view name, std::span<const std::string_view> known) {
  std::optional<std::string_view> nearest;
  std::size_t nearest_distance = std::max<std::size_t>(1, name.size() / 3) + 1;
  for (const std::string_view candidate : known) {
    // The distance of two words is at least the difference of their lengths. So only words of similar lengths are
    // compared letter by letter, and the lengths of the known names bound the cost for a name of any length.
    const std::size_t longer = std::max(name.size(), candidate.size()) - std::min(name.size(), candidate.size());
    if (longer >= nearest_distance) continue;
    const std::size_t distance = edit_distance(name, candidate);
    // Turning one whole word into another is no spelling mistake.
    if (distance >= nearest_distance || distance >= std::max(name.size(), candidate.size())) continue;
    nearest = candidate;
    nearest_distance = distance;
  }
  return nearest;
}

}  // namespace nacre
