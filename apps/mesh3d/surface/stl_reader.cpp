// SPDX-License-Identifier: Apache-2.0
// STL: triangles without shared points, as text or as floats of 32 bits.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "meshing/mixed_bits.hpp"
#include "surface/readers.hpp"
#include "surface/word_reader.hpp"

namespace mesh3d {
namespace {

constexpr std::size_t header_bytes = 84, triangle_bytes = 50;

/// Whether the bytes are an STL file in text form: their first word, behind blanks and a byte order mark, is `solid`,
/// and the first 1,024 bytes have no zero. The header of a binary file may begin with that word, too, but zeros follow
/// it.
bool is_text(std::string_view bytes) {
  if (bytes.substr(0, 3) == byte_order_mark) bytes.remove_prefix(3);
  bytes = bytes.substr(std::min(bytes.find_first_not_of(" \t\r\n"), bytes.size()));
  return lower_case(bytes.substr(0, 5)) == "solid" && bytes.substr(0, 1024).find('\0') == std::string_view::npos;
}

/// Gives points with the same coordinates one number.
class point_numbers {
 public:
  explicit point_numbers(surface_mesh& mesh) : mesh_(mesh) {}
  std::uint32_t number(point p) {
    p = p + point{0, 0, 0};  // -0 and 0 are one place
    const auto [entry, fresh] = known_.try_emplace(p, static_cast<std::uint32_t>(mesh_.points.size()));
    if (fresh) mesh_.points.push_back(p);
    return entry->second;
  }

 private:
  surface_mesh& mesh_;
  std::map<point, std::uint32_t> known_{};
};

/// Finds points that are near to another one by a grid whose cells are hashed.
class near_points {
 public:
  near_points(const std::vector<point>& points, const point& low, double tolerance)
      : points_(points),
        low_(low),
        tolerance_(tolerance),
        next_(points.size(), nothing),
        first_(slots(points.size())) {}

  /// The nearest of the points that have been added and are no further than the tolerance; `number` itself, which is
  /// added, where there is none.
  std::uint32_t find_or_add(std::uint32_t number) {
    const point& p = points_[number];
    const point margin{tolerance_, tolerance_, tolerance_};
    const auto [lowest, highest] = std::pair(cell_of(p - margin), cell_of(p + margin));
    double least = tolerance_ * tolerance_;
    std::uint32_t nearest = number;
    for (std::int64_t x = lowest[0]; x <= highest[0]; ++x) {
      for (std::int64_t y = lowest[1]; y <= highest[1]; ++y) {
        for (std::int64_t z = lowest[2]; z <= highest[2]; ++z) {
          for (std::uint32_t k = first_[slot_of({x, y, z})]; k != nothing; k = next_[k]) {
            const double square = squared_length(points_[k] - p);
            if (square > least || (square == least && nearest != number && nearest < k)) continue;
            least = square;
            nearest = k;
          }
        }
      }
    }
    if (nearest == number) {
      std::uint32_t& first = first_[slot_of(cell_of(p))];
      next_[number] = std::exchange(first, number);
    }
    return nearest;
  }

 private:
  using cell = std::array<std::int64_t, 3>;
  static constexpr std::uint32_t nothing = ~std::uint32_t{0};

  static std::vector<std::uint32_t> slots(std::size_t points) {
    return std::vector<std::uint32_t>(std::bit_ceil(2 * points + 1), nothing);
  }
  /// Cells are wider than the tolerance, so that few points are near to a second one.
  [[nodiscard]] cell cell_of(const point& p) const {
    const point q = (p - low_) * (1 / (8 * tolerance_));
    return {std::llround(q.x), std::llround(q.y), std::llround(q.z)};
  }
  [[nodiscard]] std::size_t slot_of(const cell& place) const {
    std::uint64_t hash = 0;
    for (const std::int64_t each : place) hash = meshing::mixed_bits(hash + static_cast<std::uint64_t>(each));
    return hash & (first_.size() - 1);
  }

  const std::vector<point>& points_;
  point low_;
  double tolerance_;
  std::vector<std::uint32_t> next_;   // of the points in a slot
  std::vector<std::uint32_t> first_;  // by slot
};

/// Programs round the corners of neighbouring triangles apart: a point that is no further than this part of the
/// diagonal from one that came before becomes that one.
constexpr double tolerance_by_diagonal = 1e-7;

void join_near_points(surface_mesh& mesh) {
  if (mesh.points.empty()) return;
  const auto [low, high] = bounds_of(mesh);
  const double tolerance = tolerance_by_diagonal * std::sqrt(squared_length(high - low));
  if (!(tolerance > 0) || !std::isfinite(1 / tolerance)) return;
  near_points known(mesh.points, low, tolerance);
  std::vector<std::uint32_t> becomes(mesh.points.size());
  for (std::uint32_t k = 0; k < becomes.size(); ++k) {
    becomes[k] = known.find_or_add(k);
    mesh.joined += becomes[k] != k ? 1 : 0;
  }
  if (mesh.joined == 0) return;
  std::vector<point> kept;
  for (std::uint32_t k = 0; k < becomes.size(); ++k) {
    const bool stays = becomes[k] == k;  // else it becomes one before it, whose new number is known
    becomes[k] = stays ? static_cast<std::uint32_t>(kept.size()) : becomes[becomes[k]];
    if (stays) kept.push_back(mesh.points[k]);
  }
  mesh.points = std::move(kept);
  for (auto& corners : mesh.triangles) {
    for (std::uint32_t& v : corners) v = becomes[v];
  }
}

surface_mesh read_text(std::istream& stream, const std::string& name) {
  word_reader words(stream, name);
  surface_mesh mesh;
  point_numbers numbers(mesh);
  std::vector<std::uint32_t> corners;
  std::uint32_t begun = 0;
  while (words.next()) {
    const std::string word = lower_case(words.word(0));
    if (word == "facet") {
      corners.clear();
      begun = words.line();
    } else if (word == "vertex") {
      corners.push_back(numbers.number(words.place(1)));
    } else if (word == "endfacet") {
      if (corners.size() != 3) {
        words.refuse(fmt::format("a facet of {} corners", corners.size()), "facets of an STL file have three",
                     "mend it");
      }
      mesh.triangles.push_back({corners[0], corners[1], corners[2]});
      mesh.lines.push_back(begun);
      begun = 0;
    } else if (word != "solid" && word != "endsolid" && word != "outer" && word != "endloop") {
      words.refuse(fmt::format("the word '{}' is unknown", word_reader::shown(words.word(0))),
                   "an STL file of text has facets, loops and vertices", "check that the file is whole");
    }
  }
  if (begun != 0) words.refuse("the file ends within a facet", "endfacet should follow", "fetch the file again");
  join_near_points(mesh);
  return mesh;
}

point place_at(const char* position) {
  static_assert(std::endian::native == std::endian::little, "the floats are copied as they are");
  float value[3];
  std::memcpy(value, position, sizeof value);
  return {value[0], value[1], value[2]};
}

surface_mesh read_binary(const std::string& bytes, std::uint32_t count, const std::string& name) {
  surface_mesh mesh;
  point_numbers numbers(mesh);
  for (std::uint32_t t = 0; t < count; ++t) {
    const std::size_t begin = header_bytes + t * triangle_bytes;
    surface_mesh::triangle corners{};
    for (unsigned k = 0; k < 3; ++k) {
      const point p = place_at(bytes.data() + begin + 12 * (k + 1));  // behind the normal
      if (!(std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z))) {
        throw nacre::setup_error({fmt::format("{}: byte {}: a coordinate is not finite", name, begin + 12 * (k + 1)),
                                  "a surface has a place", "fetch the file again"});
      }
      corners[k] = numbers.number(p);
    }
    mesh.triangles.push_back(corners);
  }
  join_near_points(mesh);
  return mesh;
}

}  // namespace

surface_mesh read_stl(std::istream& stream, const std::string& name) {
  const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  std::uint32_t count = 0;
  if (bytes.size() >= header_bytes) std::memcpy(&count, bytes.data() + header_bytes - sizeof count, sizeof count);
  const std::size_t wanted = header_bytes + std::size_t{count} * triangle_bytes;
  const bool like_text = is_text(bytes);
  if (bytes.size() >= header_bytes && (bytes.size() == wanted || (!like_text && bytes.size() > wanted))) {
    return read_binary(bytes, count, name);
  }
  if (!like_text) {
    throw nacre::setup_error({fmt::format("{}: byte {}: the file ends here", name, bytes.size()),
                              fmt::format("a binary STL file of {} triangles has {} bytes", count, wanted),
                              "fetch the file again"});
  }
  std::istringstream text(bytes);
  return read_text(text, name);
}

}  // namespace mesh3d
