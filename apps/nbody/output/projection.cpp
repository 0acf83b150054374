// SPDX-License-Identifier: Apache-2.0
// Pixels, colours and radial bins.
#include "output/projection.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

namespace nbody {
namespace {

/// Black, violet, orange, white.
std::array<double, 3> colour_at(double part) {
  constexpr std::array<std::array<double, 3>, 5> stops{
      {{0, 0, 0}, {60, 15, 110}, {190, 50, 90}, {250, 160, 40}, {255, 255, 220}}};
  const double place = std::clamp(part, 0.0, 1.0) * 4;
  const auto first = std::min<std::size_t>(3, static_cast<std::size_t>(place));
  std::array<double, 3> result{};
  for (std::size_t k = 0; k < 3; ++k) {
    const double low = stops[first][k], high = stops[first + 1][k];
    result[k] = low + (high - low) * (place - static_cast<double>(first));
  }
  return result;
}

}  // namespace

std::size_t projection::pixel_of(const vector3& place) const noexcept {
  const double scale = pixels / (2 * half_width);
  const double x = (place[0] - centre[0] + half_width) * scale, y = (centre[1] + half_width - place[1]) * scale;
  if (!(x >= 0 && y >= 0 && x < pixels && y < pixels)) return std::size_t{pixels} * pixels;
  return static_cast<std::size_t>(y) * pixels + static_cast<std::size_t>(x);
}

std::vector<std::uint8_t> colours_of(const std::vector<std::uint64_t>& masses, std::uint64_t bodies) {
  const double one = whole_mass / static_cast<double>(bodies);  // a single body is just visible
  const auto most = static_cast<double>(*std::max_element(masses.begin(), masses.end()));
  const double scale = 0.85 / std::log(std::max(most / one, 2.0));
  std::vector<std::uint8_t> rgb;
  rgb.reserve(3 * masses.size());
  for (const std::uint64_t mass : masses) {
    const double part = mass == 0 ? 0 : 0.15 + scale * std::log(std::max(static_cast<double>(mass) / one, 1.0));
    for (const double each : colour_at(part)) rgb.push_back(static_cast<std::uint8_t>(each));
  }
  return rgb;
}

radial_scale scale_around(double radius) noexcept {
  radial_scale scale;
  scale.lowest_decade = std::floor(std::log10(radius)) - static_cast<double>(radial_bins) / scale.bins_a_decade / 2;
  return scale;
}

std::size_t radial_bin(double radius, const radial_scale& scale) noexcept {
  const double bin = scale.bins_a_decade * (std::log10(std::max(radius, 1e-300)) - scale.lowest_decade);
  return static_cast<std::size_t>(std::clamp(bin, 0.0, static_cast<double>(radial_bins - 1)));
}

std::optional<double> radius_of_part(const std::vector<std::uint64_t>& masses, double part,
                                     const radial_scale& scale) noexcept {
  const auto all = std::accumulate(masses.begin(), masses.end(), std::uint64_t{0});
  const double wanted = part * static_cast<double>(all);
  double sum = 0;
  for (std::size_t bin = 0; bin < masses.size(); ++bin) {
    const auto local_value = static_cast<double>(masses[bin]);
    if (sum + local_value >= wanted && local_value > 0) {
      if (bin == 0 || bin + 1 == radial_bins) return std::nullopt;
      const double place = static_cast<double>(bin) + (wanted - sum) / local_value;
      return std::pow(10, place / scale.bins_a_decade + scale.lowest_decade);
    }
    sum += local_value;
  }
  return std::nullopt;
}

}  // namespace nbody
