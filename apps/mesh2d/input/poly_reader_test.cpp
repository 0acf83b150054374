// SPDX-License-Identifier: Apache-2.0
// Files that are right, and what is said of those that are not.
#include "input/poly_reader.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <nacre/error.hpp>

#include "input/poly_writer.hpp"
#include "input/shapes.hpp"
#include "kernel/troubled_input.hpp"

namespace mesh2d {
namespace {

constexpr const char* right = R"(# a square with a hole
8 2 1 1   # points, dimension, attributes, markers
1 0 0 9.5 1
2 4 0 9.5 1
3 4 4 9.5 1

4 0 4 9.5 1
5 1 1 0 0
6 +2 1 0 0
7 2e0 2 0 0
8 1 2 0 0
8 1
1 1 2 1
2 2 3 1
3 3 4 1
4 4 1 1
5 5 6 1
6 6 7 1
7 7 8 1
8 8 5 1
1
1 1.5 1.5
2
1 0.5 0.5 7 0.25
2 3.5 3.5 8 -1
)";

pslg read_text(const std::string& text, const char* node = nullptr) {
  std::istringstream poly(text), points(node == nullptr ? "" : node);
  return read_poly(poly, "in.poly", node == nullptr ? nullptr : &points, "in.node");
}

std::string complaint(const std::string& text) {
  try {
    static_cast<void>(read_text(text));
  } catch (const nacre::setup_error& error) {
    return error.what();
  }
  return "";
}

std::string replaced(const std::string& source, const std::string& target) {
  std::string text = right;
  text.replace(text.find(source), source.size(), target);
  return text;
}

TEST(PolyReader, reads_points_segments_holes_and_regions) {
  const pslg read = read_text(right);
  ASSERT_EQ(read.points.size(), 8u);
  EXPECT_EQ(read.points[6].position, (point{2, 2}));
  EXPECT_EQ(read.points[3].line, 7u);
  ASSERT_EQ(read.segments.size(), 8u);
  EXPECT_EQ(read.segments[3].begin, 3u);
  EXPECT_EQ(read.segments[3].end, 0u);
  ASSERT_EQ(read.holes.size(), 1u);
  EXPECT_EQ(read.holes[0].position, (point{1.5, 1.5}));
  ASSERT_EQ(read.regions.size(), 2u);
  EXPECT_EQ(read.regions[0].attribute, 7);
  EXPECT_EQ(read.regions[0].area_max, 0.25);
  EXPECT_FALSE(read.regions[1].area_max.has_value());
}

TEST(PolyReader, takes_points_from_a_node_file_and_counts_from_zero) {
  const pslg read = read_text("0 2 0 0\n3 0\n0 0 1\n1 1 2\n2 2 0\n0\n", "3 2 0 0\n0 0 0\n1 1 0\n2 0 1\n");
  ASSERT_EQ(read.points.size(), 3u);
  EXPECT_EQ(read.segments[2].end, 0u);
}

TEST(PolyReader, takes_a_byte_order_mark_and_line_ends_of_windows) {
  std::string windows = "\xef\xbb\xbf";
  for (const char each : std::string(right)) windows += each == '\n' ? "\r\n" : std::string(1, each);
  const pslg read = read_text(windows);
  ASSERT_EQ(read.points.size(), 8u);
  EXPECT_EQ(read.points[6].position, (point{2, 2}));
  EXPECT_EQ(read.points[3].line, 7u);
  EXPECT_EQ(read.regions.size(), 2u);
  const pslg of_two = read_text(
      "\xef\xbb\xbf"
      "0 2 0 0\r\n1 0\r\n0 0 1\r\n0\r\n",
      "\xef\xbb\xbf"
      "2 2 0 0\r\n0 0 0\r\n1 1 0\r\n");
  EXPECT_EQ(of_two.points.size(), 2u);
  EXPECT_NE(complaint("4 2\n\xef\xbb\xbf"
                      "1 0 0\n")
                .find("in.poly:2:"),
            std::string::npos)
      << "within the text it is no mark";
}

TEST(PolyReader, names_the_line_of_each_problem) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {replaced("8 2 1 1", "8 3 1 1"), "in.poly:2: the dimension is not 2 ("},
      {replaced("8 2 1 1", "-8 2 1 1"), "in.poly:2: -8 is no count ("},
      {replaced("3 4 4 9.5", "5 4 4 9.5"), "in.poly:5: point 5 stands where point 3 should ("},
      {replaced("2 4 0 9.5", "2 4 zero 9.5"),
       "in.poly:4: 'zero' is no number (number 3 of the line is a y coordinate)"},
      {replaced("2 4 0 9.5 1", "2 4"), "in.poly:4: 2 numbers (number 3 should be a y coordinate)"},
      {replaced("6 6 7 1", "6 6 9 1"), "in.poly:18: there is no point 9 (points are numbered from 1 to 8)"},
      {replaced("6 6 7 1", "6 6 7.5 1"), "in.poly:18: '7.5' is no whole number ("},
      {replaced("2\n1 0.5 0.5 7 0.25", "3\n1 0.5 0.5 7 0.25"),
       "in.poly:26: the file ends here (region 3 of 3 should follow)"},
      {replaced("2\n1 0.5 0.5 7 0.25", "1\n1 0.5 0.5 7 0.25"), "in.poly:25: more lines than regions ("},
      {"", "in.poly:1: the file ends here (the number of points should follow)"},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_EQ(complaint(text).rfind(expected, 0), 0u) << complaint(text) << "\nwhere expected: " << expected;
  }
  EXPECT_EQ(complaint(right), "");
  EXPECT_THROW(read_poly("no_such_file.poly"), nacre::setup_error);
}

TEST(PolyWriter, what_it_writes_is_read_bit_for_bit) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const pslg written = seed == 0 ? make_shape("pipe", 1) : troubled_input::make(seed);
    std::stringstream file;
    write_poly(written, file);
    const pslg read = read_poly(file, "in.poly", nullptr, "");
    const auto same = [](double a, double b) { return std::isnan(a) ? std::isnan(b) : a == b; };
    ASSERT_EQ(read.points.size(), written.points.size());
    for (std::size_t k = 0; k < read.points.size(); ++k) {
      ASSERT_TRUE(same(read.points[k].position.x, written.points[k].position.x)) << seed;
      ASSERT_TRUE(same(read.points[k].position.y, written.points[k].position.y)) << seed;
    }
    ASSERT_EQ(read.segments.size(), written.segments.size());
    for (std::size_t k = 0; k < read.segments.size(); ++k) {
      ASSERT_EQ(read.segments[k].begin, written.segments[k].begin);
      ASSERT_EQ(read.segments[k].end, written.segments[k].end);
    }
    ASSERT_EQ(read.holes.size(), written.holes.size());
    for (std::size_t k = 0; k < read.holes.size(); ++k) ASSERT_EQ(read.holes[k].position, written.holes[k].position);
    ASSERT_EQ(read.regions.size(), written.regions.size());
    for (std::size_t k = 0; k < read.regions.size(); ++k) {
      ASSERT_EQ(read.regions[k].position, written.regions[k].position);
      ASSERT_EQ(read.regions[k].attribute, written.regions[k].attribute);
      ASSERT_EQ(read.regions[k].area_max, written.regions[k].area_max);
    }
  }
}

TEST(PolyWriter, points_are_numbered_from_0_or_1_as_they_were) {
  for (const int first : {0, 1}) {
    std::stringstream given, written;
    given << "3 2 0 0\n" << first << " 0 0\n" << first + 1 << " 4 0\n" << first + 2 << " 0 4\n3 0\n";
    for (int k = 0; k < 3; ++k) given << k + 1 << " " << first + k << " " << first + (k + 1) % 3 << "\n";
    given << "0\n";
    write_poly(read_poly(given, "in.poly", nullptr, ""), written);
    const pslg again = read_poly(written, "in.poly", nullptr, "");
    ASSERT_EQ(again.points.size(), 3u);
    for (int k = 0; k < 3; ++k) EXPECT_EQ(again.points[static_cast<std::size_t>(k)].name, first + k);
    EXPECT_EQ(again.segments.back().end, 0u);
  }
}

TEST(PolyWriter, names_that_would_replace_other_files_are_refused) {
  EXPECT_THROW(check_poly_name("a.txt", "square", ""), nacre::setup_error);
  EXPECT_THROW(check_poly_name("a.poly", "a.poly", ""), nacre::setup_error);
  EXPECT_NO_THROW(check_poly_name("a.poly", "square", "a.vtu"));
  EXPECT_THROW(write_poly(make_shape("square", 1), "no/such/folder/a.poly"), std::runtime_error);
}

TEST(Shapes, an_unknown_name_is_refused_with_those_that_exist) {
  try {
    static_cast<void>(make_shape("circle", 1));
    FAIL();
  } catch (const nacre::setup_error& error) {
    EXPECT_NE(std::string(error.what()).find("pipe, square, key, comb or random"), std::string::npos);
  }
  EXPECT_NE(make_shape("random", 1).points.front().position, make_shape("random", 2).points.front().position);
}

}  // namespace
}  // namespace mesh2d
