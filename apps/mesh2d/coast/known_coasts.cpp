// SPDX-License-Identifier: Apache-2.0
// What the command line says of coasts; it is read the same way whether coasts themselves can be read or not.
#include "coast/known_coasts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include <nacre/error.hpp>
#include <program_options.hpp>

#include "coast/coastlines.hpp"

namespace mesh2d {
namespace {

constexpr std::array<known_coast, 3> known_coasts{
    {{"norway", 'i', {4, 32, 57, 71.5}}, {"greece", 'i', {19, 29.5, 34.5, 42}}, {"world", 'l', {-180, 180, -90, 90}}}};

}  // namespace

const known_coast* find_known_coast(const std::string& name) {
  const auto coast = std::find_if(known_coasts.begin(), known_coasts.end(),
                                  [&](const known_coast& each) { return name == each.name; });
  return coast == known_coasts.end() ? nullptr : &*coast;
}

geographic_region read_region(const std::string& text) {
  std::array<double, 4> value{};
  const bool complete = nacre::read_numbers(text, '/', value) == value.size();
  auto [west, east, south, north] = value;
  if (east < west) east += 360;  // across the date line
  const bool in_range =
      west >= -360 && east <= 360 && east > west && east - west <= 360 && south >= -90 && north <= 90 && south < north;
  if (complete && in_range) return {west, east, south, north};
  throw nacre::setup_error({fmt::format("--region has no value '{}'", text),
                            "it is W/E/S/N in degrees: at most a turn wide, from south to north",
                            "try --region 4/32/57/71.5"});
}

bool is_coast(const std::string& input) {
  const bool is_file = input.size() > 3 && input.compare(input.size() - 3, 3, ".nc") == 0;
  return is_file || find_known_coast(input) != nullptr;
}

}  // namespace mesh2d
