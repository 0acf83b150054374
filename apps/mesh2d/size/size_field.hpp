// SPDX-License-Identifier: Apache-2.0
// The wanted length of sides as a function of the place.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "geometry/point.hpp"

namespace mesh2d {

/// What is wrong with a field: it has no usable value where it was asked, or falls so steeply that samples have missed
/// most of the triangles that it asks for.
struct field_faults {
  std::uint64_t count = 0;  // how often the value was unusable, or a subdomain outgrew its samples
  point first{};
  double value = 0;             // at the first place
  std::uint64_t triangles = 0;  // that were there when a subdomain outgrew its samples; else 0
  template <class Archive>
  void serialize(Archive& ar) {
    ar(count, first.x, first.y, value, triangles);
  }
  static field_faults sum(const field_faults& a, const field_faults& b) {
    field_faults both = a.count > 0 ? a : b;
    both.count = a.count + b.count;
    return both;
  }
};

/// Several threads may ask one field at the same time.
class size_field {
 public:
  virtual ~size_field() = default;
  /// The wanted length of sides at a place: positive; infinity where the field sets no bound. A place where the field
  /// has no usable value is counted, and sets no bound.
  [[nodiscard]] virtual double length(const point& point) const noexcept = 0;
  [[nodiscard]] virtual field_faults faults() const = 0;
};

/// Lengths at the centres of equal cells, row by row from the south.
struct raster_grid {
  static constexpr std::uint64_t cells_max = std::uint64_t{1} << 26;  // half a GiB, which one message carries

  double west = 0, south = 0;  // the centre of the first cell
  double step_x = 1, step_y = 1;
  std::uint32_t columns = 0, rows = 0;
  std::vector<double> lengths{};  // positive; NaN where there is no data
  template <class Archive>
  void serialize(Archive& ar) {
    ar(west, south, step_x, step_y, columns, rows, lengths);
  }
};

/// The content of a field, as rank 0 sends it to all ranks. Empty: no field.
struct size_description {
  std::string expression{};
  raster_grid raster{};
  bool over_domain = false;       // the raster has no place of its own
  double triangles_expected = 0;  // of the whole mesh, by samples of the field
  [[nodiscard]] bool empty() const noexcept { return expression.empty() && raster.lengths.empty(); }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(expression, raster, over_domain, triangles_expected);
  }
};

/// Reads the value of --size: an expression, or the name of a raster file, whose content is read. Throws
/// nacre::setup_error for a file that is no raster; make_field looks at expressions.
size_description describe_size(const std::string& text);

/// Null for an empty description. Throws nacre::setup_error for an expression without a meaning.
std::unique_ptr<const size_field> make_field(size_description described);

/// The number of triangles beyond which a mesh has outgrown the samples of its field, which told of `expected`. Without
/// such a bound a field that falls to 0 at a line would be refined to the limits of doubles.
inline std::size_t triangles_by_samples(double expected) noexcept {
  return static_cast<std::size_t>(16 * std::min(expected, 1e12)) + 200'000;
}

/// The line for a person about a field with faults.
std::string text_of(const field_faults& field_faults, const std::string& size);

}  // namespace mesh2d
