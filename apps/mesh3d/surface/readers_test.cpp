// SPDX-License-Identifier: Apache-2.0
// Files of surfaces, whole and broken.
#include "surface/readers.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <sstream>
#include <string>

#include <nacre/error.hpp>

#include "surface/shapes.hpp"

namespace mesh3d {
namespace {

using reader = surface_mesh (*)(std::istream&, const std::string&);

surface_mesh read(reader by, const std::string& text) {
  std::istringstream from(text);
  return by(from, "file");
}

std::string refusal(reader by, const std::string& text) {
  try {
    read(by, text);
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

TEST(Obj, that_is_broken_is_refused_with_its_line) {
  EXPECT_NE(refusal(read_obj, "v 0 0 0\nf 1 2 3\n").find("file:2: there is no point 2"), std::string::npos);
  EXPECT_NE(refusal(read_obj, "v 0 0 0\nf 1 0 1\n").find("file:2: there is no point 0"), std::string::npos);
  EXPECT_NE(refusal(read_obj, "v 0 0 0\nf 1 -2 1\n").find("file:2: there is no point -2"), std::string::npos);
  EXPECT_NE(refusal(read_obj, "v 0 0\n").find("file:1: 3 words"), std::string::npos);
  EXPECT_NE(refusal(read_obj, "v 0 0 0\nf 1 1\n").find("file:2: a face of 2 corners"), std::string::npos);
  EXPECT_NE(refusal(read_obj, "v 0 0 0\nf a\n").find("file:2: 'a' is no whole number"), std::string::npos);
}

std::string stl_text_of(const surface_mesh& mesh) {
  std::ostringstream to;
  to << "solid x\n";
  for (const auto& corner : all_corners(mesh)) {
    to << "facet normal 0 0 0\n outer loop\n";
    for (const point& p : corner) to << "  vertex " << p.x << ' ' << p.y << ' ' << p.z << '\n';
    to << " endloop\nendfacet\n";
  }
  to << "endsolid x\n";
  return to.str();
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
