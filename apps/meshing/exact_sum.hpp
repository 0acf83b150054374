// SPDX-License-Identifier: Apache-2.0
// A sum of doubles and of products of doubles without any rounding, for areas.
#pragma once

#include <array>
#include <cstdint>

namespace meshing {

/// Fixed-point sum of doubles and of products of doubles (Kulisch's long accumulator). Its words carry 32 bits each and
/// keep their carries until they are needed, so that adding is cheap.
class exact_sum {
 public:
  /// |value| is 0, or between 2^-500 and 2^400.
  void add(double value) noexcept;
  void add_product(double a, double b) noexcept;
  /// Adds twice the area of the triangle, negative when it turns right: the sum over the edges of a closed polygon is
  /// twice its area.
  template <class Point>
  void add_edge(const Point& source, const Point& target) noexcept {
    add_product(source.x, target.y);
    add_product(-source.y, target.x);
  }
  void add(const exact_sum& other) noexcept;
  /// The nearest double, or its neighbour.
  [[nodiscard]] double value() const noexcept;
  /// Whether both sums have exactly one value.
  [[nodiscard]] bool equals(const exact_sum& other) const noexcept;

  template <class Archive>
  void serialize(Archive& ar) {
    ar(words_, pending_);
  }

 private:
  void carry() noexcept;

  static constexpr int lowest_bit = -640, word_count = 36;
  std::array<std::int64_t, word_count> words_{};
  std::uint32_t pending_ = 0;  // additions since the last carry
};

}  // namespace meshing
