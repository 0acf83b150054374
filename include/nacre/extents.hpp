// SPDX-License-Identifier: Apache-2.0
// The shape of an array, and the places in it.
#pragma once

#include <array>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>

#include <nacre/future.hpp>
#include <nacre/ids.hpp>

namespace nacre {

/// The place of an element: one number from 0 for each of its 1 to 3 dimensions. Signed, so that the places of
/// neighbours can be computed by subtraction.
class index {
 public:
  constexpr index() = default;
  template <std::integral... N>
  requires(sizeof...(N) >= 1 && sizeof...(N) <= 3) constexpr index(N... subject) noexcept
      : values_{static_cast<std::int64_t>(subject)...}, dimensions_(sizeof...(N)) {}
  /// The number in dimension `dimension`, which must be less than dimensions().
  [[nodiscard]] constexpr std::int64_t operator[](std::size_t dimension) const noexcept { return values_[dimension]; }
  [[nodiscard]] constexpr std::size_t dimensions() const noexcept { return dimensions_; }
  friend constexpr bool operator==(const index&, const index&) = default;
  friend constexpr auto operator<=>(const index&, const index&) = default;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(values_, dimensions_);
  }

 private:
  friend class extents;
  std::array<std::int64_t, 3> values_{};
  std::uint8_t dimensions_ = 0;
};

/// The place as text, such as "{3, 4}".
[[nodiscard]] inline std::string to_string(const index& index) {
  std::string text = "{";
  for (std::size_t each = 0; each < index.dimensions(); ++each) {
    text += (each == 0 ? "" : ", ") + std::to_string(index[each]);
  }
  return text + "}";
}

/// The number of places of an array in each of its 1 to 3 dimensions. Places are numbered from 0 in row-major order:
/// the last dimension runs fastest.
class extents {
 public:
  /// The most places that all arrays which a job ever makes may have together.
  static constexpr std::uint64_t count_max = object_id::first_element - 1;

  constexpr extents() = default;
  /// Throws usage_error for a negative number, and for more than count_max places.
  template <std::integral... N>
  requires(sizeof...(N) >= 1 && sizeof...(N) <= 3) constexpr extents(N... subject) : lengths_(subject...) {
    std::uint64_t count = 1;
    for (std::size_t each = 0; each < sizeof...(N); ++each) {
      const auto length = static_cast<std::uint64_t>(lengths_[each]);
      if (lengths_[each] < 0) throw usage_error("an array cannot have the extents " + to_string(lengths_));
      if (length != 0 && count > count_max / length) {
        throw usage_error("an array of the extents " + to_string(lengths_) + " has too many places: at most " +
                          std::to_string(count_max));
      }
      count *= length;
    }
  }
  /// The number of places in dimension `dimension`, which must be less than dimensions().
  [[nodiscard]] constexpr std::int64_t operator[](std::size_t dimension) const noexcept { return lengths_[dimension]; }
  [[nodiscard]] constexpr std::size_t dimensions() const noexcept { return lengths_.dimensions(); }
  [[nodiscard]] constexpr std::uint64_t count() const noexcept {
    std::uint64_t count = lengths_.dimensions() == 0 ? 0 : 1;
    for (std::size_t each = 0; each < lengths_.dimensions(); ++each)
      count *= static_cast<std::uint64_t>(lengths_[each]);
    return count;
  }
  /// Whether there is such a place; false for an index with another number of dimensions.
  [[nodiscard]] constexpr bool contains(const index& index) const noexcept {
    bool inside = lengths_.dimensions() != 0 && index.dimensions() == lengths_.dimensions();
    for (std::size_t each = 0; each < lengths_.dimensions(); ++each)
      inside = inside && index[each] >= 0 && index[each] < lengths_[each];
    return inside;
  }
  /// The number of a place. Throws usage_error when there is no such place.
  [[nodiscard]] constexpr std::uint64_t number_of(const index& index) const {
    if (!contains(index)) {
      throw usage_error("the index " + to_string(index) + " is outside of an array of the extents " +
                        to_string(lengths_));
    }
    std::uint64_t number = 0;
    for (std::size_t each = 0; each < lengths_.dimensions(); ++each) {
      number = number * static_cast<std::uint64_t>(lengths_[each]) + static_cast<std::uint64_t>(index[each]);
    }
    return number;
  }
  /// The place that has this number; the inverse of number_of. `number` must be less than count().
  [[nodiscard]] constexpr index place_of(std::uint64_t number) const noexcept {
    index position = lengths_;
    for (std::size_t each = lengths_.dimensions(); each-- != 0;) {
      const auto length = static_cast<std::uint64_t>(lengths_[each]);
      position.values_[each] = static_cast<std::int64_t>(number % length);
      number /= length;
    }
    return position;
  }
  friend constexpr bool operator==(const extents&, const extents&) = default;
  friend constexpr auto operator<=>(const extents&, const extents&) = default;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(lengths_);
  }

 private:
  index lengths_;
};

}  // namespace nacre
