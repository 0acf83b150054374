// SPDX-License-Identifier: Apache-2.0
// Frames, and the sum of tiles.
#include "picture/raster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <nacre/error.hpp>

namespace mesh2d {

raster_frame frame_around(const point& low, const point& high, std::uint32_t width) {
  constexpr double pixels_max = 1 << 26;
  const double margin = 1 + width / 200;
  const double scale = (width - 2 * margin) / std::max(high.x - low.x, 1e-300);
  const double height = std::ceil((high.y - low.y) * scale + 2 * margin);
  if (!(height * width <= pixels_max)) {
    throw nacre::setup_error(
        {fmt::format("the picture would have {} x {:.9g} pixels", width, height),
         fmt::format("at most {:.0f} are possible", pixels_max),
         fmt::format("try --width {:.0f}", std::max(16.0, std::floor(std::sqrt(pixels_max * width / height))))});
  }
  return {.top_left = {low.x - margin / scale, high.y + margin / scale},
          .pixels_a_unit = scale,
          .width = width,
          .height = static_cast<std::uint32_t>(height)};
}

picture::picture(const raster_frame& frame)
    : frame_(frame), pixels_(static_cast<std::size_t>(frame.width) * frame.height) {}

void picture::add(const raster_tile& tile) {
  for (std::uint32_t row = 0; row < tile.height; ++row) {
    pixel_sum* target = &pixels_[static_cast<std::size_t>(tile.top + row) * frame_.width + tile.left];
    const pixel_sum* source = &tile.pixels[static_cast<std::size_t>(row) * tile.width];
    for (std::uint32_t column = 0; column < tile.width; ++column, ++target, ++source) {
      target->samples += source->samples;
      target->red += source->red;
      target->green += source->green;
      target->blue += source->blue;
    }
  }
}

std::vector<std::uint8_t> picture::rgb() const {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(3 * pixels_.size());
  for (const pixel_sum& each : pixels_) {
    const std::uint32_t samples = std::max<std::uint32_t>(samples_a_pixel, each.samples);
    const std::uint32_t white = 255 * (samples - each.samples);
    for (const std::uint16_t sum : {each.red, each.green, each.blue}) {
      bytes.push_back(static_cast<std::uint8_t>((sum + white + samples / 2) / samples));
    }
  }
  return bytes;
}

}  // namespace mesh2d
