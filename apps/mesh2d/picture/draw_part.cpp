// SPDX-License-Identifier: Apache-2.0
// Fills triangles row by row.
#include "picture/draw_part.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>

namespace mesh2d {
namespace {

using colour = std::array<double, 3>;

/// Pale, as in the other pictures of meshes: steps of the golden angle around the circle of hues.
colour colour_of_number(std::uint32_t number) {
  const double turn = 2.39996323 * number;
  return {205 + 45 * std::cos(turn), 205 + 45 * std::cos(turn - 2.0944), 205 + 45 * std::cos(turn + 2.0944)};
}

/// From dark violet at 0 to yellow at 60 degrees, which is the angle of the best triangle.
colour colour_of_angle(double degrees) {
  constexpr std::array<colour, 5> stops{{{68, 1, 84}, {59, 82, 139}, {33, 145, 140}, {94, 201, 98}, {253, 231, 37}}};
  const double at = std::clamp(degrees / 60, 0.0, 1.0) * (stops.size() - 1);
  const auto below = std::min(static_cast<std::size_t>(at), stops.size() - 2);
  const double rest = at - static_cast<double>(below);
  colour mixed{};
  for (unsigned k = 0; k < 3; ++k) mixed[k] = stops[below][k] * (1 - rest) + stops[below + 1][k] * rest;
  return mixed;
}

double least_degrees(const std::array<point, 3>& at) {
  double least = 180;
  for (unsigned k = 0; k < 3; ++k) {
    const point u = at[(k + 1) % 3] - at[k], v = at[(k + 2) % 3] - at[k];
    least = std::min(least, std::atan2(std::abs(cross(u, v)), dot(u, v)) * 180 / std::numbers::pi);
  }
  return least;
}

/// Where a row meets a side. Both triangles at a side get one result, bit for bit: its ends are taken in one order.
double crossing(point a, point b, double row) noexcept {
  if (b.y < a.y || (b.y == a.y && b.x < a.x)) std::swap(a, b);
  return a.x + (row - a.y) * ((b.x - a.x) / (b.y - a.y));
}

/// A side as it is drawn: the distance of a sample from it is a x + b y + c.
struct line {
  double a = 0, b = 0, c = 0, half_width = 0, opacity = 0;
};

class painter {
 public:
  painter(const part& drawn, const raster_frame& frame, colouring by, std::uint32_t number)
      : drawn_(drawn), frame_(frame), by_(by), of_number_(colour_of_number(number)) {}

  raster_tile draw() {
    point low{std::numeric_limits<double>::max(), std::numeric_limits<double>::max()}, high{0, 0};
    for (const vertex& each : drawn_.mesh.vertices) {
      const point at = in_samples(each.at);
      low = {std::min(low.x, at.x), std::min(low.y, at.y)};
      high = {std::max(high.x, at.x), std::max(high.y, at.y)};
    }
    if (drawn_.mesh.vertices.empty()) return {};
    const auto pixel = [](double sample, std::uint32_t size) {
      return static_cast<std::uint32_t>(std::clamp(std::floor(sample / samples_a_side), 0.0, size - 1.0));
    };
    tile_.left = pixel(low.x, frame_.width);
    tile_.top = pixel(low.y, frame_.height);
    tile_.width = pixel(high.x, frame_.width) - tile_.left + 1;
    tile_.height = pixel(high.y, frame_.height) - tile_.top + 1;
    tile_.pixels.resize(static_cast<std::size_t>(tile_.width) * tile_.height);
    for (index t = 0; t < drawn_.mesh.triangles.size(); ++t) fill(t);
    return std::move(tile_);
  }

 private:
  /// In units of samples: sample (i, j) is at (i, j).
  [[nodiscard]] point in_samples(const point& at) const noexcept {
    const double scale = frame_.pixels_a_unit * samples_a_side;
    return {(at.x - frame_.top_left.x) * scale - 0.5, (frame_.top_left.y - at.y) * scale - 0.5};
  }

  void fill(index t) {
    std::array<point, 3> at{};
    for (unsigned k = 0; k < 3; ++k) at[k] = in_samples(drawn_.mesh.at(drawn_.mesh.triangles[t].corner[k]));
    const double top = std::min({at[0].y, at[1].y, at[2].y}), bottom = std::max({at[0].y, at[1].y, at[2].y});
    const double first_row = std::max(std::ceil(top), static_cast<double>(tile_.top * samples_a_side));
    const double end_row =
        std::min(std::ceil(bottom), static_cast<double>((tile_.top + tile_.height) * samples_a_side));
    if (first_row >= end_row) return;
    const colour inside = by_ == colouring::angle ? colour_of_angle(least_degrees(at)) : of_number_;
    set_lines(t, at);
    for (double row = first_row; row < end_row; ++row) fill_row(at, row, inside);
  }

  void set_lines(index t, const std::array<point, 3>& at) {
    const double twice = std::abs(cross(at[1] - at[0], at[2] - at[0]));
    std::array<double, 3> length{};
    for (unsigned k = 0; k < 3; ++k) length[k] = std::sqrt(squared_length(at[(k + 2) % 3] - at[(k + 1) % 3]));
    const double height = twice / std::max({length[0], length[1], length[2], 1e-300}) / samples_a_side;
    const double opacity = 0.7 * std::clamp((height - 2.5) / 5, 0.0, 1.0);
    lines_count_ = 0;
    for (unsigned k = 0; k < 3; ++k) {
      const side s = side_of(t, k);
      const bool constrained = drawn_.mesh.constrained(s), interface = constrained && is_interface(s);
      if ((opacity == 0 && !constrained) || length[k] == 0) continue;
      const point from = at[(k + 1) % 3], along = at[(k + 2) % 3] - from;
      line& made = lines_[lines_count_++];
      made = {.a = -along.y / length[k],
              .b = along.x / length[k],
              .half_width = samples_a_side * (interface     ? 0.6
                                              : constrained ? 1.0
                                                            : 0.35),
              .opacity = interface     ? 0.8
                         : constrained ? 1.0
                                       : opacity};
      made.c = -(made.a * from.x + made.b * from.y);
    }
  }

  [[nodiscard]] bool is_interface(side s) const noexcept {
    const std::uint32_t on = drawn_.piece_of(s);
    return on != none && drawn_.pieces[on].segment == none;
  }

  void fill_row(const std::array<point, 3>& at, double row, const colour& inside) {
    double left = std::numeric_limits<double>::max(), right = std::numeric_limits<double>::lowest();
    for (unsigned k = 0; k < 3; ++k) {
      const point &a = at[k], &b = at[(k + 1) % 3];
      if ((a.y <= row) == (b.y <= row)) continue;
      const double x = crossing(a, b, row);
      left = std::min(left, x);
      right = std::max(right, x);
    }
    const double first = std::max(std::ceil(left), static_cast<double>(tile_.left * samples_a_side));
    const double end = std::min(std::ceil(right), static_cast<double>((tile_.left + tile_.width) * samples_a_side));
    const auto pixel_row = static_cast<std::size_t>(row) / samples_a_side - tile_.top;
    for (double column = first; column < end; ++column) {
      const auto pixel_column = static_cast<std::size_t>(column) / samples_a_side - tile_.left;
      put(tile_.pixels[pixel_row * tile_.width + pixel_column], inside, opacity_at(column, row));
    }
  }

  [[nodiscard]] double opacity_at(double column, double row) const noexcept {
    double opacity = 0;
    for (unsigned k = 0; k < lines_count_; ++k) {
      const line& each = lines_[k];
      if (std::abs(each.a * column + each.b * row + each.c) < each.half_width)
        opacity = std::max(opacity, each.opacity);
    }
    return opacity;
  }

  static void put(pixel_sum& into, const colour& inside, double opacity) noexcept {
    constexpr double dark = 51;
    const auto mixed = [&](unsigned k) {
      return static_cast<std::uint16_t>(inside[k] * (1 - opacity) + dark * opacity + 0.5);
    };
    ++into.samples;
    into.red += mixed(0);
    into.green += mixed(1);
    into.blue += mixed(2);
  }

  const part& drawn_;
  const raster_frame& frame_;
  colouring by_;
  colour of_number_;
  raster_tile tile_{};
  std::array<line, 3> lines_{};
  unsigned lines_count_ = 0;
};

}  // namespace

raster_tile draw_part(const part& drawn, const raster_frame& frame, colouring by, std::uint32_t number) {
  return painter(drawn, frame, by, number).draw();
}

}  // namespace mesh2d
