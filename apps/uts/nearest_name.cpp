// SPDX-License-Identifier: Apache-2.0
// Edit distance between short names.
#include "nearest_name.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace uts {
namespace {

char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// Optimal string alignment distance.
std::size_t distance(std::string_view a, std::string_view b) {
  const std::size_t width = b.size() + 1;
  std::vector<std::size_t> cost((a.size() + 1) * width);
  const auto function = [&](std::size_t i, std::size_t j) -> std::size_t& { return cost[i * width + j]; };
  for (std::size_t i = 0; i <= a.size(); ++i) function(i, 0) = i;
  for (std::size_t j = 0; j <= b.size(); ++j) function(0, j) = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      function(i, j) =
          std::min({function(i - 1, j) + 1, function(i, j - 1) + 1, function(i - 1, j - 1) + (same ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) function(i, j) = std::min(function(i, j), function(i - 2, j - 2) + 1);
    }
  }
  return function(a.size(), b.size());
}

}  // namespace

bool equal_ignoring_case(std::string_view a, std::string_view b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

std::string_view nearest_name(std::string_view name, std::span<const std::string_view> candidates) {
  constexpr std::size_t letters_max = 64;  // no candidate is as long, so what follows tells nothing
  name = name.substr(0, letters_max);
  return *std::min_element(candidates.begin(), candidates.end(), [&](std::string_view a, std::string_view b) {
    return distance(name, a) < distance(name, b);
  });
}

}  // namespace uts
