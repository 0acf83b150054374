// SPDX-License-Identifier: Apache-2.0
// OFF and OBJ, and the choice by the ending of the name.
#include "surface/readers.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "meshing/output_file.hpp"
#include "surface/polygon.hpp"
#include "surface/word_reader.hpp"

namespace mesh3d {
namespace {

constexpr std::int64_t count_max = 1 << 28;

void add_polygon(const word_reader& words, const std::vector<std::uint32_t>& corners, surface_mesh& mesh) {
  if (corners.size() < 3) {
    words.refuse(fmt::format("a face of {} corners", corners.size()), "a face has three at least", "remove or mend it");
  }
  if (mesh.triangles.size() + corners.size() > static_cast<std::size_t>(count_max)) {
    words.refuse("too many triangles", "a surface has at most 2^28", "coarsen it");
  }
  const auto values = cut_polygon(mesh.points, corners);
  if (values.empty()) {
    words.refuse(
        fmt::format("a face of {} corners whose boundary touches or crosses itself, or is very long", corners.size()),
        fmt::format("a face that is not convex is cut into triangles if it has at most {} corners",
                    concave_corners_max),
        "cut it into triangles");
  }
  mesh.triangles.insert(mesh.triangles.end(), values.begin(), values.end());
  mesh.lines.insert(mesh.lines.end(), values.size(), words.line());
}

std::size_t count_at(const word_reader& words, std::size_t position, const char* wanted) {
  const auto value = words.number<std::int64_t>(position, wanted);
  if (value >= 0 && value <= count_max) return static_cast<std::size_t>(value);
  words.refuse(fmt::format("{} is no count", value), fmt::format("{} may be from 0 to {}", wanted, count_max),
               "correct it");
}

/// Goes behind the word OFF, and tells at which word of the line the counts are.
std::size_t begin_off(word_reader& words) {
  words.demand("the word OFF");
  const std::string first(words.word(0));
  if (first == "OFF" || first == "COFF" || first == "NOFF" || first == "CNOFF") {
    if (words.size() > 1 && words.word(1) == "BINARY") {
      words.refuse("a binary OFF file", "only those of text are read", "convert it, for example by meshlab");
    }
    if (words.size() > 1) return 1;
    words.demand("the numbers of points, faces and edges");
    return 0;
  }
  words.refuse(fmt::format("the file begins with '{}'", word_reader::shown(first)),
               "an OFF file begins with the word OFF", "check that it is an OFF file");
}

}  // namespace

surface_mesh read_off(std::istream& stream, const std::string& name) {
  word_reader words(stream, name);
  const std::size_t index = begin_off(words);
  const std::size_t points = count_at(words, index, "the number of points");
  const std::size_t faces = count_at(words, index + 1, "the number of faces");
  surface_mesh mesh;
  for (std::size_t k = 0; k < points; ++k) {
    words.demand(fmt::format("point {} of {}", k + 1, points));
    mesh.points.push_back(words.place(0));
  }
  std::vector<std::uint32_t> corners;
  for (std::size_t k = 0; k < faces; ++k) {
    words.demand(fmt::format("face {} of {}", k + 1, faces));
    const std::size_t count = count_at(words, 0, "the number of corners");
    corners.clear();
    for (std::size_t c = 0; c < count; ++c) {
      const auto v = words.number<std::int64_t>(c + 1, "the number of a point");
      if (v < 0 || v >= static_cast<std::int64_t>(points)) {
        words.refuse(fmt::format("there is no point {}", v),
                     points == 0 ? "the file has none" : fmt::format("points are numbered from 0 to {}", points - 1),
                     "correct the face");
      }
      corners.push_back(static_cast<std::uint32_t>(v));
    }
    add_polygon(words, corners, mesh);
  }
  return mesh;
}

surface_mesh read_obj(std::istream& stream, const std::string& name) {
  word_reader words(stream, name, continued_lines::joined);
  surface_mesh mesh;
  std::vector<std::uint32_t> corners;
  while (words.next()) {
    if (words.word(0) == "v") mesh.points.push_back(words.place(1));
    if (words.word(0) != "f") continue;  // normals, textures, groups, materials
    corners.clear();
    const auto count = static_cast<std::int64_t>(mesh.points.size());
    for (std::size_t k = 1; k < words.size(); ++k) {
      const std::string_view word = words.word(k).substr(0, words.word(k).find('/'));
      const auto given = words.number_in<std::int64_t>(word, "the number of a point");
      const std::int64_t v = given < 0 ? count + given : given - 1;  // negative ones count from the last point
      if (v < 0 || v >= count) {
        words.refuse(fmt::format("there is no point {}", given), fmt::format("{} points stand before this line", count),
                     "correct the face");
      }
      corners.push_back(static_cast<std::uint32_t>(v));
    }
    add_polygon(words, corners, mesh);
  }
  return mesh;
}

bool names_surface_file(const std::string& input) {
  const std::string name = lower_case(input);
  return meshing::ends_with(name, ".off") || meshing::ends_with(name, ".stl") || meshing::ends_with(name, ".obj");
}

surface_mesh read_surface(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw nacre::setup_error({path + " cannot be read", "the surface is in it", "check the name"});
  if (std::filesystem::is_directory(path)) {
    throw nacre::setup_error({path + " is a directory", "the surface is in a file", "name a file inside"});
  }
  const std::string name = lower_case(path);
  if (meshing::ends_with(name, ".off")) return read_off(file, path);
  if (meshing::ends_with(name, ".obj")) return read_obj(file, path);
  return read_stl(file, path);
}

}  // namespace mesh3d
