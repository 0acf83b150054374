// SPDX-License-Identifier: Apache-2.0
// What libpng reads of the files; an animation by its chunks.
#include "pictures/png_file.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#ifdef PICTURES_HAVE_PNG
#include <png.h>
#endif

namespace pictures {
namespace {

#ifdef PICTURES_HAVE_PNG
TEST(PngFile, holds_the_pixels) {
  std::vector<std::uint8_t> rgb(3 * 16 * 9);
  std::iota(rgb.begin(), rgb.end(), std::uint8_t{0});
  const std::string bytes = png_bytes(rgb, 16, 9);
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  ASSERT_NE(png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()), 0) << image.message;
  image.format = PNG_FORMAT_RGB;
  EXPECT_EQ(image.width, 16u);
  EXPECT_EQ(image.height, 9u);
  std::vector<std::uint8_t> read(PNG_IMAGE_SIZE(image));
  ASSERT_NE(png_image_finish_read(&image, nullptr, read.data(), 0, nullptr), 0) << image.message;
  EXPECT_EQ(read, rgb);
}

TEST(PngFile, shows_an_animation_whose_first_picture_anyone_can_read) {
  const std::vector<std::uint8_t> dark(3 * 16 * 16, 10);
  const std::string file =
      animated_png({png_bytes(dark, 16, 16), png_bytes(std::vector<std::uint8_t>(3 * 16 * 16, 200), 16, 16)});
  EXPECT_LT(file.find("acTL"), file.find("IDAT"));
  EXPECT_LT(file.find("IDAT"), file.find("fdAT"));
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  ASSERT_NE(png_image_begin_read_from_memory(&image, file.data(), file.size()), 0) << image.message;
  image.format = PNG_FORMAT_RGB;
  std::vector<std::uint8_t> read(PNG_IMAGE_SIZE(image));
  ASSERT_NE(png_image_finish_read(&image, nullptr, read.data(), 0, nullptr), 0) << image.message;
  EXPECT_EQ(image.warning_or_error, 0u) << image.message;
  EXPECT_EQ(read, dark);
}
#else
TEST(PngFile, is_refused_without_libpng) {
  EXPECT_FALSE(has_png());
  EXPECT_THROW(static_cast<void>(png_bytes(std::vector<std::uint8_t>(3), 1, 1)), std::runtime_error);
}
#endif

}  // namespace
}  // namespace pictures
