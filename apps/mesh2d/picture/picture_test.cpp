// SPDX-License-Identifier: Apache-2.0
// Pictures in pixels: each sample once, in the colour of its triangle.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include <nacre/error.hpp>

#include "input/shapes.hpp"
#include "output/writers.hpp"
#include "parallel/plan.hpp"
#include "parallel/together_for_tests.hpp"
#include "picture/draw_part.hpp"
#include "pictures/png_file.hpp"

#ifdef PICTURES_HAVE_PNG
#include <png.h>
#endif

namespace mesh2d {
namespace {

struct drawn_plan {
  plan mesh_plan{};
  picture all{};
};

drawn_plan draw(const options& asked, bool backwards = false) {
  drawn_plan result{.mesh_plan = make_plan(make_shape(asked.input, asked.seed), asked)};
  EXPECT_TRUE(refine_together(result.mesh_plan, 1));
  result.all = picture(frame_of(result.mesh_plan, asked.width));
  std::vector<std::uint32_t> order(result.mesh_plan.parts.size());
  std::iota(order.begin(), order.end(), 0u);
  if (backwards) std::reverse(order.begin(), order.end());
  for (const std::uint32_t k : order) {
    result.all.add(draw_part(result.mesh_plan.parts[k], result.all.frame(), asked.colours, k));
  }
  return result;
}

TEST(Picture, every_sample_of_a_square_lies_in_one_triangle) {
  for (const std::uint64_t triangles : {40u, 3000u}) {
    const drawn_plan got = draw({.input = "square", .triangles = triangles, .subdomains = 5, .width = 102});
    ASSERT_GT(got.mesh_plan.parts.size(), 1u);
    ASSERT_EQ(got.all.frame().width, 102u);
    ASSERT_EQ(got.all.frame().height, 102u);  // a margin of one pixel
    const auto& sums = got.all.sums();
    for (std::size_t row = 0; row < 102; ++row) {
      for (std::size_t column = 0; column < 102; ++column) {
        const bool inside = row > 0 && row < 101 && column > 0 && column < 101;
        ASSERT_EQ(sums[row * 102 + column].samples, inside ? samples_a_pixel : 0) << row << ", " << column;
      }
    }
  }
}

TEST(Picture, triangles_that_are_smaller_than_a_sample_leave_no_gap) {
  const drawn_plan got = draw({.input = "square", .triangles = 60'000, .subdomains = 3, .width = 18});
  const auto& sums = got.all.sums();
  const auto full = std::count_if(sums.begin(), sums.end(), [](const auto& s) { return s.samples == samples_a_pixel; });
  EXPECT_EQ(full, 16 * 16);
}

TEST(Picture, does_not_depend_on_the_order_of_subdomains) {
  const options asked{.input = "key", .triangles = 2000, .subdomains = 9, .width = 300, .colours = colouring::angle};
  EXPECT_EQ(draw(asked).all.rgb(), draw(asked, true).all.rgb());
}

TEST(Picture, shows_the_place_and_the_quality_of_a_triangle) {
  part corner;
  corner.mesh.vertices = {{.position = {0, 0}}, {.position = {1, 0}}, {.position = {0.5, 0.8660254037844386}}};
  corner.mesh.add_triangle(0, 1, 2, 0);
  const raster_frame frame = frame_around({0, 0}, {1, 1}, 102);
  picture all(frame);
  all.add(draw_part(corner, frame, colouring::angle, 0));
  const std::vector<std::uint8_t> rgb = all.rgb();
  const auto pixel = [&](std::size_t column, std::size_t row) {
    const auto position = rgb.begin() + static_cast<std::ptrdiff_t>(3 * (row * 102 + column));
    return std::vector<int>(position, position + 3);
  };
  EXPECT_EQ(pixel(51, 70), (std::vector<int>{253, 231, 37}));  // 60 degrees, the best
  EXPECT_EQ(pixel(5, 10), (std::vector<int>{255, 255, 255}));  // y points up: nothing in the upper corners
  EXPECT_EQ(pixel(96, 10), (std::vector<int>{255, 255, 255}));
  EXPECT_LT(pixel(51, 100)[0], 240);  // the lower side is a line
}

TEST(Picture, a_picture_that_is_too_large_is_refused_with_a_width_that_is_not) {
  EXPECT_THROW(frame_around({0, 0}, {1, 1e5}, 1600), nacre::setup_error);
  EXPECT_THROW(frame_around({0, 0}, {0, 1}, 1600), nacre::setup_error);
  EXPECT_NO_THROW(frame_around({0, 0}, {1, 20}, 1600));
  try {
    frame_around({0, 0}, {1, 2}, 30'000);
    FAIL();
  } catch (const nacre::setup_error& error) {
    const std::string text = error.what();
    const auto width = static_cast<std::uint32_t>(std::stoul(text.substr(text.find("--width ") + 8)));
    EXPECT_NO_THROW(frame_around({0, 0}, {1, 2}, width)) << text;
  }
}

#ifdef PICTURES_HAVE_PNG
TEST(Picture, a_png_file_holds_the_pixels) {
  const picture all = draw({.input = "comb", .subdomains = 4, .width = 200}).all;
  const std::string bytes = pictures::png_bytes(all.rgb(), all.frame().width, all.frame().height);
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  ASSERT_NE(png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()), 0) << image.message;
  image.format = PNG_FORMAT_RGB;
  EXPECT_EQ(image.width, 200u);
  std::vector<std::uint8_t> read(PNG_IMAGE_SIZE(image));
  ASSERT_NE(png_image_finish_read(&image, nullptr, read.data(), 0, nullptr), 0) << image.message;
  EXPECT_EQ(read, all.rgb());
  EXPECT_THROW(write_png(all, "no_such_folder/mesh.png"), std::runtime_error);
  EXPECT_NO_THROW(check_output_name("mesh.png", "comb"));
}
#else
TEST(Picture, a_png_file_is_refused_without_libpng) {
  EXPECT_THROW(check_output_name("mesh.png", "comb"), nacre::setup_error);
}
#endif

}  // namespace
}  // namespace mesh2d
