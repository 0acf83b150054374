// SPDX-License-Identifier: Apache-2.0
// Files of surfaces, whole and broken.
#include "surface/readers.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>
#include <numbers>
#include <sstream>
#include <string>
#include <vector>

#include <nacre/error.hpp>

#include "surface/placed_surface.hpp"
#include "surface/shapes.hpp"

namespace mesh3d {
namespace {

using reader = surface_mesh (*)(std::istream&, const std::string&);

surface_mesh read(reader reader, const std::string& text) {
  std::istringstream input(text);
  return reader(input, "file");
}

std::string refusal(reader reader, const std::string& text) {
  try {
    read(reader, text);
  } catch (const nacre::setup_error& error) {
    return error.what();
  }
  return "";
}

/// The corners of all triangles, as only STL files have them.
std::vector<std::array<point, 3>> all_corners(const surface_mesh& mesh) {
  std::vector<std::array<point, 3>> all;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) all.push_back(mesh.corners(t));
  return all;
}

const std::string tetrahedron_off =
    "OFF # four points\n4 4 6\n0 0 0\n1 0 0\n\n0 1 0\n0 0 1\n"
    "3 0 2 1\n3 0 1 3 0.5 0.5 0.5\n3 0 3 2\n3 1 2 3\n";

TEST(Off, is_read_with_comments_blank_lines_and_colours) {
  const surface_mesh mesh = read(read_off, tetrahedron_off);
  EXPECT_EQ(mesh.points.size(), 4u);
  ASSERT_EQ(mesh.triangles.size(), 4u);
  EXPECT_EQ(mesh.triangles[1], (surface_mesh::triangle{0, 1, 3}));
  EXPECT_EQ(mesh.lines, (std::vector<std::uint32_t>{8, 9, 10, 11}));
  EXPECT_DOUBLE_EQ(enclosed_volume(mesh), 1.0 / 6);
  EXPECT_EQ(read(read_off, "OFF 4 1 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3\n").triangles.size(), 2u);
}

TEST(Off, that_is_broken_is_refused_with_its_line) {
  const auto expect = [](const std::string& text, const std::string& said) {
    const std::string got = refusal(read_off, text);
    EXPECT_NE(got.find(said), std::string::npos) << got;
  };
  expect("PLY\n", "file:1: the file begins with 'PLY'");
  expect("", "file:1: the file ends here");
  expect("OFF BINARY\n", "file:1: a binary OFF file");
  expect("OFF\n3 1 0\n0 0 0\n1 0 x\n", "file:4: 'x' is no number");
  expect("OFF\n3 1 0\n0 0 0\n1 0 nan\n", "file:4: a coordinate is not finite");
  expect("OFF\n3 1 0\n0 0 0\n1 0 1e200\n", "file:4: a coordinate is not finite, or beyond");
  expect("OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n", "file:6: there is no point 3");
  expect("OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 -1\n", "file:6: there is no point -1");
  expect("OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n2 0 1\n", "file:6: a face of 2 corners");
  expect("OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1\n", "file:6: 3 words");
  expect("OFF\n3 2 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n", "file:7: the file ends here (face 2 of 2 should follow)");
  expect("OFF\n0 1 0\n3 0 1 2\n", "file:3: there is no point 0 (the file has none)");
  expect("OFF\n-3 2 0\n", "file:2: -3 is no count");
  expect("OFF\n3 99999999999 0\n", "file:2: 99999999999 is no count");
}

TEST(Obj, has_polygons_numbers_from_the_end_and_more_than_a_surface) {
  const surface_mesh mesh = read(read_obj,
                                 "# a square\nmtllib a.mtl\nv 0 0 0\nv 1 0 0 1\nv 1 1 0\nvn 0 0 1\nv 0 1 0\ng part\n"
                                 "f 1/1/1 2//1 3 4\nf -4 -2 -1\n");
  EXPECT_EQ(mesh.points.size(), 4u);
  EXPECT_EQ(mesh.triangles, (std::vector<surface_mesh::triangle>{{0, 1, 2}, {0, 2, 3}, {0, 2, 3}}));
  EXPECT_EQ(mesh.lines, (std::vector<std::uint32_t>{9, 9, 10}));
}

/// The area of all triangles, those that face down counted as negative.
double area_from_above(const surface_mesh& mesh) {
  double sum = 0;
  for (const auto& [a, b, c] : all_corners(mesh)) sum += cross(b - a, c - a).z / 2;
  return sum;
}

TEST(Polygons, that_are_not_convex_are_cut_into_triangles_that_cover_them_once) {
  // An L, with a corner in the middle of a side; also begun at its inner corner, seen from below, and upright.
  const std::string l_points = "v 0 0 0\nv 1 0 0\nv 2 0 0\nv 2 1 0\nv 1 1 0\nv 1 2 0\nv 0 2 0\n";
  for (const char* face : {"f 1 2 3 4 5 6 7", "f 5 6 7 1 2 3 4", "f 7 1 2 3 4 5 6"}) {
    const surface_mesh mesh = read(read_obj, l_points + face);
    EXPECT_EQ(mesh.triangles.size(), 5u) << face;
    for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
      const auto [a, b, c] = mesh.corners(t);
      EXPECT_GT(cross(b - a, c - a).z, 0) << face;
    }
    EXPECT_DOUBLE_EQ(area_from_above(mesh), 3) << face;
  }
  EXPECT_DOUBLE_EQ(area_from_above(read(read_obj, l_points + "f 7 6 5 4 3 2 1")), -3);
  const surface_mesh upright = read(read_off, "OFF\n6 1 0\n0 5 0\n0 5 2\n1 5 2\n1 5 1\n2 5 1\n2 5 0\n6 0 1 2 3 4 5\n");
  ASSERT_EQ(upright.triangles.size(), 4u);
  double sum = 0;
  for (const auto& [a, b, c] : all_corners(upright)) sum += cross(b - a, c - a).y / 2;
  EXPECT_DOUBLE_EQ(sum, 3);
}

/// Every other corner is at the rim, and the others near the centre.
std::string star(int corners, double inner) {
  std::string text, face = "f";
  for (int k = 0; k < corners; ++k) {
    const double angle = 2 * std::numbers::pi * k / corners, radius = k % 2 == 0 ? 1 : inner;
    text += fmt::format("v {} {} 0\n", radius * std::cos(angle), radius * std::sin(angle));
    face += fmt::format(" {}", k + 1);
  }
  return text + face;
}

TEST(Polygons, of_many_corners_are_cut_if_they_are_convex_or_not_too_long) {
  EXPECT_EQ(read(read_obj, star(100'000, 1)).triangles.size(), 99'998u);
  const surface_mesh mesh = read(read_obj, star(500, 0.1));
  EXPECT_EQ(mesh.triangles.size(), 498u);
  EXPECT_NEAR(area_from_above(mesh), 500 * 0.1 * std::sin(2 * std::numbers::pi / 500) / 2, 1e-9);
  EXPECT_NE(refusal(read_obj, star(502, 0.1)).find("at most 500 corners"), std::string::npos);
}

TEST(Polygons, that_cross_themselves_are_refused) {
  const std::string points = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 2 0.5 0\n";
  EXPECT_NE(refusal(read_obj, points + "f 1 3 2 4").find("file:6: a face of 4 corners whose boundary"),
            std::string::npos);
  // Twice around its first corner, always to the left.
  const std::string twice_around = "v 0 0 0\nv 2 0 0\nv 0 2 0\nv -2 0 0\nv 0 -2 0\nv 3 0 0\nv 0 3 0\n";
  EXPECT_NE(refusal(read_obj, twice_around + "f 1 2 3 4 5 6 7").find("file:8: a face of 7 corners whose boundary"),
            std::string::npos);
}

TEST(Messages, show_no_byte_that_a_terminal_obeys) {
  const std::string got = refusal(read_obj, "v 0 0 \x1b[2Jx\n");
  EXPECT_EQ(got.find('\x1b'), std::string::npos) << got;
  EXPECT_NE(got.find("file:1: '\\x1b[2Jx' is no number"), std::string::npos) << got;
}

TEST(Obj, has_lines_that_are_continued_in_the_next_one) {
  const std::string points = "v 0 0 \\\n 0\nv 1 0 0\nv 1 1 0 # behind a comment \\\nv 0 1 0\n";
  const surface_mesh mesh = read(read_obj, points + "f 1 2 \\  \r\n 3 \\\n\\\n4\nf 1 3 2\n");
  EXPECT_EQ(mesh.points, (std::vector<point>{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}}));
  EXPECT_EQ(mesh.triangles, (std::vector<surface_mesh::triangle>{{0, 1, 2}, {0, 2, 3}, {0, 2, 1}}));
  EXPECT_EQ(mesh.lines, (std::vector<std::uint32_t>{6, 6, 10}));
  EXPECT_NE(refusal(read_obj, points + "f 1 2 \\\n9\n").find("file:6: there is no point 9"), std::string::npos);
  EXPECT_NE(refusal(read_obj, points + "f 1 2 3 \\\n").find("file:6: the file ends within a line"), std::string::npos);
  EXPECT_NE(refusal(read_off, "OFF \\\n0 0 0\n").find("no whole number"), std::string::npos) << "only OBJ has them";
}

TEST(Obj, that_is_broken_is_refused_with_its_line) {
  EXPECT_NE(refusal(read_obj, "v 0 0 0\nf 1 2 3\n").find("file:2: there is no point 2"), std::string::npos);
  EXPECT_NE(refusal(read_obj, "v 0 0 0\nf 1 0 1\n").find("file:2: there is no point 0"), std::string::npos);
  EXPECT_NE(refusal(read_obj, "v 0 0 0\nf 1 -2 1\n").find("file:2: there is no point -2"), std::string::npos);
  EXPECT_NE(refusal(read_obj, "v 0 0\n").find("file:1: 3 words"), std::string::npos);
  EXPECT_NE(refusal(read_obj, "v 0 0 0\nf 1 1\n").find("file:2: a face of 2 corners"), std::string::npos);
  EXPECT_NE(refusal(read_obj, "v 0 0 0\nf a\n").find("file:2: 'a' is no whole number"), std::string::npos);
}

std::string stl_text_of(const surface_mesh& mesh, int digits = 6) {
  std::ostringstream output;
  output.precision(digits);
  output << "solid x\n";
  for (const auto& corner : all_corners(mesh)) {
    output << "facet normal 0 0 0\n outer loop\n";
    for (const point& p : corner) output << "  vertex " << p.x << ' ' << p.y << ' ' << p.z << '\n';
    output << " endloop\nendfacet\n";
  }
  output << "endsolid x\n";
  return output.str();
}

std::string stl_bytes_of(const surface_mesh& mesh, const std::string& header) {
  std::string bytes = header;
  bytes.resize(80);
  const auto count = static_cast<std::uint32_t>(mesh.triangles.size());
  bytes.append(reinterpret_cast<const char*>(&count), 4);
  for (const auto& corner : all_corners(mesh)) {
    bytes.append(12, '\0');
    for (const point& p : corner) {
      for (const double each : {p.x, p.y, p.z}) {
        const auto value = static_cast<float>(each);
        bytes.append(reinterpret_cast<const char*>(&value), 4);
      }
    }
    bytes.append(2, '\0');
  }
  return bytes;
}

TEST(Stl, is_the_same_as_text_and_in_binary_and_its_points_are_shared) {
  const surface_mesh tetrahedron = read(read_off, tetrahedron_off);
  const surface_mesh text = read(read_stl, stl_text_of(tetrahedron));
  EXPECT_EQ(text.points.size(), 4u);
  EXPECT_EQ(all_corners(text), all_corners(tetrahedron));
  EXPECT_EQ(text.lines, (std::vector<std::uint32_t>{2, 9, 16, 23}));
  for (const char* header : {"made by hand", "solid though binary"}) {
    const surface_mesh binary = read(read_stl, stl_bytes_of(tetrahedron, header));
    EXPECT_EQ(binary.points.size(), 4u);
    EXPECT_EQ(all_corners(binary), all_corners(tetrahedron));
  }
}

/// A tetrahedron whose four triangles have corners of their own, each moved along x by one step more than the last.
surface_mesh torn_tetrahedron(const point& origin, double step) {
  const surface_mesh whole = read(read_off, tetrahedron_off);
  surface_mesh torn;
  for (const auto& corners : all_corners(whole)) {
    const auto first = static_cast<std::uint32_t>(torn.points.size());
    for (const point& p : corners) {
      torn.points.push_back(origin + p + point{step * static_cast<double>(torn.points.size()), 0, 0});
    }
    torn.triangles.push_back({first, first + 1, first + 2});
  }
  return torn;
}

TEST(Stl, points_that_differ_by_rounding_become_one) {
  const double diagonal = std::sqrt(3.0);
  for (const point& origin : {point{0, 0, 0}, point{-0.25, 1, 16}}) {
    const surface_mesh near = read(read_stl, stl_text_of(torn_tetrahedron(origin, 0.1e-7 * diagonal), 17));
    EXPECT_EQ(near.points.size(), 4u);
    EXPECT_EQ(near.joined, 8u);
    const placed_surface placed = place_surface(near, {}, "it");
    EXPECT_EQ(placed.mesh.points.size(), 4u);
    ASSERT_EQ(placed.notes.size(), 1u);
    EXPECT_NE(placed.notes.front().find("points were nearly at the place of another one"), std::string::npos);
    const surface_mesh apart = read(read_stl, stl_text_of(torn_tetrahedron(origin, 1.5e-7 * diagonal), 17));
    EXPECT_EQ(apart.points.size(), 12u);
    EXPECT_EQ(apart.joined, 0u);
  }
}

TEST(Stl, many_points_that_are_nearly_at_one_place_take_no_longer) {
  surface_mesh heap = torn_tetrahedron({0, 0, 0}, 0);
  for (std::uint32_t k = 0; k < 50'000; ++k) {  // of which there are a billion pairs
    heap.points.push_back({1e-13 * (k + 1), 0, 0});
    heap.triangles.push_back({0, 1, static_cast<std::uint32_t>(heap.points.size() - 1)});
  }
  EXPECT_EQ(read(read_stl, stl_text_of(heap, 17)).joined, 50'000u);
}

TEST(Stl, of_text_may_be_in_capitals_behind_blanks_and_a_byte_order_mark) {
  const surface_mesh tetrahedron = read(read_off, tetrahedron_off);
  std::string text = stl_text_of(tetrahedron);
  for (char& each : text) each = static_cast<char>(std::toupper(static_cast<unsigned char>(each)));
  for (const char* previous : {"", "\n  ", "\xef\xbb\xbf", "\xef\xbb\xbf \r\n"}) {
    EXPECT_EQ(all_corners(read(read_stl, previous + text)), all_corners(tetrahedron));
  }
  EXPECT_EQ(read(read_off, "\xef\xbb\xbf" + tetrahedron_off).points.size(), 4u);
}

TEST(Stl, in_binary_that_is_cut_off_is_not_taken_for_text) {
  const std::string bytes = stl_bytes_of(read(read_off, tetrahedron_off), "solid though binary");
  EXPECT_NE(refusal(read_stl, bytes.substr(0, 200)).find("file: byte 200: the file ends here"), std::string::npos);
}

TEST(Surface, that_is_a_directory_is_refused) {
  for (const char* ending : {".stl", ".off", ".obj"}) {
    const std::filesystem::path folder = testing::TempDir() + "mesh3d_folder." + std::to_string(::getpid()) + ending;
    std::filesystem::create_directory(folder);
    try {
      static_cast<void>(read_surface(folder.string()));
      ADD_FAILURE() << ending;
    } catch (const nacre::setup_error& error) {
      EXPECT_NE(std::string(error.what()).find("is a directory"), std::string::npos) << error.what();
    }
    std::filesystem::remove(folder);
  }
}

TEST(Stl, that_is_broken_is_refused_with_its_place) {
  const surface_mesh tetrahedron = read(read_off, tetrahedron_off);
  std::string bytes = stl_bytes_of(tetrahedron, "binary");
  const std::string cut = refusal(read_stl, bytes.substr(0, 200));
  EXPECT_NE(cut.find("file: byte 200: the file ends here (a binary STL file of 4 triangles has 284 bytes)"),
            std::string::npos)
      << cut;
  const float bad = std::numeric_limits<float>::quiet_NaN();
  std::memcpy(bytes.data() + 84 + 50 + 12, &bad, 4);
  EXPECT_NE(refusal(read_stl, bytes).find("file: byte 146: a coordinate is not finite"), std::string::npos);
  EXPECT_NE(refusal(read_stl, "solid\nfacet\nvertex 0 0 0\nendfacet\n").find("file:4: a facet of 1 corners"),
            std::string::npos);
  EXPECT_NE(refusal(read_stl, "solid\nfacet\nvertex 0 0 0\n").find("file:3: the file ends within a facet"),
            std::string::npos);
  EXPECT_NE(refusal(read_stl, "solid\ncube\n").find("file:2: the word 'cube' is unknown"), std::string::npos);
  EXPECT_NE(refusal(read_stl, "").find("the file ends here"), std::string::npos);
}

}  // namespace
}  // namespace mesh3d
