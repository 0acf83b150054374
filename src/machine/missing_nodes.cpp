// SPDX-License-Identifier: Apache-2.0
// Reads which nodes of a machine are missing, or draws them.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include <nacre/emulated_machine.hpp>
#include <nacre/error.hpp>
#include <nacre/rng.hpp>
#include "machine/machine_bounds.hpp"

namespace nacre {
namespace {

[[noreturn]] void refuse_missing(std::string_view text, const std::string& reason) {
  throw setup_error({"'" + std::string(text) + "' names no missing nodes: " + reason, "packets go around what it names",
                     "write places such as 1,2,3:4,5,6, or a share such as 1% or 1%@7"});
}

template <class Number>
[[nodiscard]] Number number_at(std::string_view& rest, std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (error != std::errc()) refuse_missing(text, "it is no number where one should be");
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  return value;
}

/// Takes a letter away, if it is the next one.
[[nodiscard]] bool takes(std::string_view& rest, char letter) {
  if (rest.empty() || rest.front() != letter) return false;
  rest.remove_prefix(1);
  return true;
}

[[nodiscard]] std::vector<coordinates> places_at(std::vector<std::uint64_t> numbers, const coordinates& grid) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  const auto x = static_cast<std::uint64_t>(grid.x), y = static_cast<std::uint64_t>(grid.y);
  std::vector<coordinates> places;
  places.reserve(numbers.size());
  for (const std::uint64_t number : numbers) places.emplace_back(number % x, number / x % y, number / x / y);
  return places;
}

/// The first of all nodes in an order that the seed draws (Fisher and Yates). Of that order only what differs from the
/// order of the numbers is kept: a machine may have very many nodes, of which few are drawn.
[[nodiscard]] std::vector<coordinates> drawn_nodes(double percent, std::uint64_t seed, const coordinates& grid) {
  const auto count =
      static_cast<std::uint64_t>(grid.x) * static_cast<std::uint64_t>(grid.y) * static_cast<std::uint64_t>(grid.z);
  const auto wanted = static_cast<std::uint64_t>(percent * static_cast<double>(count) / 100);
  std::unordered_map<std::uint64_t, std::uint64_t> moved;  // by place; the number of each other place is its own
  const auto number_in = [&](std::uint64_t place) {
    const auto match = moved.find(place);
    return match == moved.end() ? place : match->second;
  };
  std::vector<std::uint64_t> numbers;
  numbers.reserve(wanted);
  rng random(seed);
  for (std::uint64_t k = 0; k < wanted; ++k) {
    const std::uint64_t place = k + random.below(count - k);
    numbers.push_back(number_in(place));
    moved[place] = number_in(k);
    moved.erase(k);  // nobody looks there again
  }
  return places_at(std::move(numbers), grid);
}

}  // namespace

std::uint64_t emulated_machine::nodes_present() const {
  return nodes() - std::set<coordinates>(missing.begin(), missing.end()).size();
}

std::vector<coordinates> parse_missing_nodes(std::string_view text, const coordinates& grid) {
  machine::check_grid(grid, {.subject = "'" + std::string(text) + "' among the nodes of a machine",
                             .reason = "packets go around what it names"});
  std::string_view rest = text;
  if (text.find('%') != std::string_view::npos) {
    const auto percent = number_at<double>(rest, text);
    if (!takes(rest, '%') || !(percent >= 0 && percent < 100)) refuse_missing(text, "it is no share of 0 to 99 %");
    const std::uint64_t seed = takes(rest, '@') ? number_at<std::uint64_t>(rest, text) : 1;
    if (!rest.empty()) refuse_missing(text, "something follows the share");
    return drawn_nodes(percent, seed, grid);
  }
  std::vector<std::uint64_t> numbers;
  const std::array<std::int32_t, 3> extents{grid.x, grid.y, grid.z};
  do {
    std::array<std::uint64_t, 3> place{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (axis != 0 && !takes(rest, ',')) refuse_missing(text, "a place has three numbers");
      place[axis] = number_at<std::uint32_t>(rest, text);
      if (place[axis] >= static_cast<std::uint64_t>(extents[axis]))
        refuse_missing(text, "a place is outside of the grid");
    }
    numbers.push_back(place[0] +
                      static_cast<std::uint64_t>(grid.x) * (place[1] + static_cast<std::uint64_t>(grid.y) * place[2]));
  } while (takes(rest, ':'));
  if (!rest.empty()) refuse_missing(text, "places are joined by colons");
  return places_at(std::move(numbers), grid);
}

}  // namespace nacre
