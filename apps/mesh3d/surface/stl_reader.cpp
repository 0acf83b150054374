// SPDX-License-Identifier: Apache-2.0
// STL: triangles without shared points, as text or as floats of 32 bits.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "surface/readers.hpp"
#include "surface/word_reader.hpp"

namespace mesh3d {
namespace {

constexpr std::size_t header_bytes = 84, triangle_bytes = 50;

/// Whether the first word is `solid`, behind blanks and the mark that some editors put first, and what follows is no
/// header of a binary file, which may begin with that word, too, but ends in bytes that are no text.
bool is_text(std::string_view bytes) {
  if (bytes.substr(0, 3) == byte_order_mark) bytes.remove_prefix(3);
  bytes = bytes.substr(std::min(bytes.find_first_not_of(" \t\r\n"), bytes.size()));
  return lower_case(bytes.substr(0, 5)) == "solid" && bytes.substr(0, 1024).find('\0') == std::string_view::npos;
}

/// Gives points with the same coordinates one number.
class point_numbers {
 public:
  explicit point_numbers(surface_mesh& into) : into_(into) {}
  std::uint32_t number(point p) {
    p = p + point{0, 0, 0};  // -0 and 0 are one place
    const auto [at, fresh] = known_.try_emplace(p, static_cast<std::uint32_t>(into_.points.size()));
    if (fresh) into_.points.push_back(p);
    return at->second;
  }

 private:
  surface_mesh& into_;
  std::map<point, std::uint32_t> known_{};
};

surface_mesh read_text(std::istream& from, const std::string& name) {
  word_reader words(from, name);
  surface_mesh made;
  point_numbers numbers(made);
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
      made.triangles.push_back({corners[0], corners[1], corners[2]});
      made.lines.push_back(begun);
      begun = 0;
    } else if (word != "solid" && word != "endsolid" && word != "outer" && word != "endloop") {
      words.refuse(fmt::format("the word '{}' is unknown", word_reader::shown(words.word(0))),
                   "an STL file of text has facets, loops and vertices", "check that the file is whole");
    }
  }
  if (begun != 0) words.refuse("the file ends within a facet", "endfacet should follow", "fetch the file again");
  return made;
}

point place_at(const char* at) {
  static_assert(std::endian::native == std::endian::little, "the floats are copied as they are");
  float value[3];
  std::memcpy(value, at, sizeof value);
  return {value[0], value[1], value[2]};
}

surface_mesh read_binary(const std::string& bytes, std::uint32_t count, const std::string& name) {
  surface_mesh made;
  point_numbers numbers(made);
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
    made.triangles.push_back(corners);
  }
  return made;
}

}  // namespace

surface_mesh read_stl(std::istream& from, const std::string& name) {
  const std::string bytes{std::istreambuf_iterator<char>(from), {}};
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
