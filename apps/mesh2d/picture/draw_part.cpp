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
  const double time = std::clamp(degrees / 60, 0.0, 1.0) * (stops.size() - 1);
  const auto below = std::min(static_cast<std::size_t>(time), stops.size() - 2);
  const double rest = time - static_cast<double>(below);
  colour mixed{};
  for (unsigned k = 0; k < 3; ++k) mixed[k] = stops[below][k] * (1 - rest) + stops[below + 1][k] * rest;
  return mixed;
}

double least_degrees(const std::array<point, 3>& points) {
  double least = 180;
  for (unsigned k = 0; k < 3; ++k) {
    const point u = points[(k + 1) % 3] - points[k], v = points[(k + 2) % 3] - points[k];
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
  painter(const part& drawn, const raster_frame& frame, colouring colouring, std::uint32_t number)
      : drawn_(drawn), frame_(frame), colouring_(colouring), of_number_(colour_of_number(number)) {}

  raster_tile draw() {
    point low{std::numeric_limits<double>::max(), std::numeric_limits<double>::max()}, high{0, 0};
    for (const vertex& each : drawn_.mesh.vertices) {
      const point position = in_samples(each.position);
      low = {std::min(low.x, position.x), std::min(low.y, position.y)};
      high = {std::max(high.x, position.x), std::max(high.y, position.y)};
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
  [[nodiscard]] point in_samples(const point& position) const noexcept {
    const double scale = frame_.pixels_a_unit * samples_a_side;
    return {(position.x - frame_.top_left.x) * scale - 0.5, (frame_.top_left.y - position.y) * scale - 0.5};
  }

  void fill(index t) {
    std::array<point, 3> points{};
    for (unsigned k = 0; k < 3; ++k) points[k] = in_samples(drawn_.mesh.at(drawn_.mesh.triangles[t].corner[k]));
    const double top = std::min({points[0].y, points[1].y, points[2].y}),
                 bottom = std::max({points[0].y, points[1].y, points[2].y});
    const double first_row = std::max(std::ceil(top), static_cast<double>(tile_.top * samples_a_side));
    const double end_row =
        std::min(std::ceil(bottom), static_cast<double>((tile_.top + tile_.height) * samples_a_side));
    if (first_row >= end_row) return;
    const colour inside = colouring_ == colouring::angle ? colour_of_angle(least_degrees(points)) : of_number_;
    set_lines(t, points);
    for (double row = first_row; row < end_row; ++row) fill_row(points, row, inside);
  }

  void set_lines(index t, const std::array<point, 3>& points) {
    const double twice = std::abs(cross(points[1] - points[0], points[2] - points[0]));
    std::array<double, 3> length{};
    for (unsigned k = 0; k < 3; ++k) length[k] = std::sqrt(squared_length(points[(k + 2) % 3] - points[(k + 1) % 3]));
    const double height = twice / std::max({length[0], length[1], length[2], 1e-300}) / samples_a_side;
    const double opacity = 0.7 * std::clamp((height - 2.5) / 5, 0.0, 1.0);
    lines_count_ = 0;
    for (unsigned k = 0; k < 3; ++k) {
      const side s = side_of(t, k);
      const bool constrained = drawn_.mesh.constrained(s), interface = constrained && is_interface(s);
      if ((opacity == 0 && !constrained) || length[k] == 0) continue;
      const point position = points[(k + 1) % 3], along = points[(k + 2) % 3] - position;
      line& line = lines_[lines_count_++];
      line = {.a = -along.y / length[k],
              .b = along.x / length[k],
              .half_width = samples_a_side * (interface     ? 0.6
                                              : constrained ? 1.0
                                                            : 0.35),
              .opacity = interface     ? 0.8
                         : constrained ? 1.0
                                       : opacity};
      line.c = -(line.a * position.x + line.b * position.y);
    }
  }

  [[nodiscard]] bool is_interface(side s) const noexcept {
    const std::uint32_t index = drawn_.piece_of(s);
    return index != none && drawn_.pieces[index].segment == none;
  }

  void fill_row(const std::array<point, 3>& points, double row, const colour& inside) {
    double left = std::numeric_limits<double>::max(), right = std::numeric_limits<double>::lowest();
    for (unsigned k = 0; k < 3; ++k) {
      const point &a = points[k], &b = points[(k + 1) % 3];
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

  static void put(pixel_sum& pixel_sum, const colour& inside, double opacity) noexcept {
    constexpr double dark = 51;
    const auto mixed = [&](unsigned k) {
      return static_cast<std::uint16_t>(inside[k] * (1 - opacity) + dark * opacity + 0.5);
    };
    ++pixel_sum.samples;
    pixel_sum.red += mixed(0);
    pixel_sum.green += mixed(1);
    pixel_sum.blue += mixed(2);
  }

  const part& drawn_;
  const raster_frame& frame_;
  colouring colouring_;
  colour of_number_;
  raster_tile tile_{};
  std::array<line, 3> lines_{};
  unsigned lines_count_ = 0;
};

}  // namespace

raster_tile draw_part(const part& drawn, const raster_frame& frame, colouring colouring, std::uint32_t number) {
  return painter(drawn, frame, colouring, number).draw();
}

}  // namespace mesh2d
