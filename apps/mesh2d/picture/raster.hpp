// SPDX-License-Identifier: Apache-2.0
// Pictures of meshes in pixels. What they take in memory depends on the pixels, not on the triangles.
#pragma once

#include <cstdint>
#include <vector>

#include "geometry/point.hpp"

namespace mesh2d {

/// Each pixel is sampled at so many places in x, and as many in y.
inline constexpr std::uint32_t samples_a_side = 4;
inline constexpr std::uint32_t samples_a_pixel = samples_a_side * samples_a_side;

/// What the colour of a triangle shows.
enum class colouring : std::uint8_t { subdomain, rank, angle };

/// Which part of the plane a picture shows. Rows of pixels run from the top, where y is largest.
struct raster_frame {
  point top_left{};  // the outer corner of the first pixel
  double pixels_a_unit = 1;
  std::uint32_t width = 0, height = 0;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(top_left.x, top_left.y, pixels_a_unit, width, height);
  }
};

/// A frame of `width` pixels around a box, with a margin. Throws nacre::setup_error when the picture would have more
/// than 2^26 pixels.
raster_frame frame_around(const point& low, const point& high, std::uint32_t width);

/// The sums of the samples of a pixel that lie in triangles.
struct pixel_sum {
  std::uint16_t samples = 0, red = 0, green = 0, blue = 0;
  bool operator==(const pixel_sum&) const = default;
};

/// A rectangle of a picture.
struct raster_tile {
  std::uint32_t left = 0, top = 0, width = 0, height = 0;
  std::vector<pixel_sum> pixels{};  // by rows
  template <class Archive>
  void serialize(Archive& ar) {
    ar(left, top, width, height, pixels);
  }
};

/// A whole picture, to which subdomains add their tiles in any order.
class picture {
 public:
  picture() = default;
  explicit picture(const raster_frame& frame);
  [[nodiscard]] const raster_frame& frame() const noexcept { return frame_; }
  void add(const raster_tile& tile);
  [[nodiscard]] const std::vector<pixel_sum>& sums() const noexcept { return pixels_; }  // by rows
  /// Three bytes a pixel: red, green, blue. What no triangle covers is white.
  [[nodiscard]] std::vector<std::uint8_t> rgb() const;

 private:
  raster_frame frame_{};
  std::vector<pixel_sum> pixels_{};
};

}  // namespace mesh2d
