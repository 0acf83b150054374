// SPDX-License-Identifier: Apache-2.0
// Size fields by pictures in grey.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <nacre/error.hpp>

#include "input/shapes.hpp"
#include "parallel/plan.hpp"
#include "size/raster_field.hpp"
#include "size/raster_files.hpp"

namespace mesh2d {
namespace {

raster_grid read(const std::string& bytes) { return read_pgm_raster(bytes, "grey.pgm", {.black = 1, .white = 3}); }

std::string refusal_of(const std::string& bytes) {
  try {
    static_cast<void>(read(bytes));
  } catch (const nacre::setup_error& error) {
    return error.what();
  }
  return "";
}

TEST(Picture, greys_are_lengths_between_those_of_black_and_white) {
  const std::vector<double> wanted{3, 2, 1, 1, 1.5, 2.5};  // from the south
  const raster_grid text = read("P2 # a comment\n3 2\n#another\n4\n0 1 3\n4 2 0");
  EXPECT_EQ(text.columns, 3u);
  EXPECT_EQ(text.rows, 2u);
  EXPECT_EQ(text.lengths, wanted);
  EXPECT_EQ(read(std::string("P5 3 2 4\n\0\1\3\4\2\0", 15)).lengths, wanted);
  EXPECT_EQ(read(std::string("P5\n1 2 1024\n\0\0\2\0", 16)).lengths, (std::vector<double>{2, 1}));
}

TEST(Picture, covers_the_box_around_the_input) {
  raster_grid grid = read("P2 2 1 1 0 1");
  lay_over(grid, {10, 20}, {14, 30});
  const raster_field field(std::move(grid));
  EXPECT_EQ(field.length({10.5, 29}), 1);
  EXPECT_EQ(field.length({13, 20}), 3);
  EXPECT_EQ(field.length({12, 25}), 2);
}

TEST(Picture, refines_where_it_is_dark) {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("mesh2d_grey_" + std::to_string(getpid()) + ".pgm")).string();
  std::ofstream(path) << "P2 4 1 255 0 0 255 255\n";
  options asked;
  asked.size = path + "?0.01,0.2";
  const plan plan = make_plan(make_shape("square", 1), asked);
  std::filesystem::remove(path);
  EXPECT_LT(plan.field->length({0.1, 0.5}), 0.011);
  EXPECT_GT(plan.field->length({0.9, 0.5}), 0.19);
}

TEST(Picture, that_is_a_directory_is_refused) {
  const std::filesystem::path folder = testing::TempDir() + "mesh2d_folder." + std::to_string(::getpid()) + ".pgm";
  std::filesystem::create_directory(folder);
  EXPECT_THROW(static_cast<void>(read_pgm_raster(folder.string(), "1,2")), nacre::setup_error);
  std::filesystem::remove(folder);
}

TEST(Picture, that_is_none_is_refused_with_the_byte) {
  const auto expect_refused = [](const std::string& bytes, const std::string& said) {
    EXPECT_NE(refusal_of(bytes).find("grey.pgm: byte " + said), std::string::npos) << refusal_of(bytes);
  };
  expect_refused("P6 1 1 255 abc", "0: the file does not begin with P2 or P5");
  expect_refused("P2 x", "3: the width is no number");
  expect_refused("P2 3 2 4 0 1 3 4 2", "18: the file ends here, behind 10 bytes");
  expect_refused("P2 2 1 4 0 5", "11: a pixel is no number from 0 to 4");
  expect_refused("P5 3 2 255 abc", "14: the file ends here");
  expect_refused("P5 1 1 4 \5", "10: a pixel of 5");
  expect_refused("P2 1000000000 1000000000 255 0", "28: the picture has");
  for (const char* lengths : {"", "1", "1,", "0,1", "1,-2", "1,2,3", "a,b", "1,inf"}) {
    EXPECT_THROW(static_cast<void>(read_pgm_raster("none.pgm", lengths)), nacre::setup_error) << lengths;
  }
}

}  // namespace
}  // namespace mesh2d
