// SPDX-License-Identifier: Apache-2.0
// Typed identifiers, so that a rank is never mistaken for a worker or an object.
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>

#include <nacre/assert.hpp>

namespace nacre {

/// A number of one kind: without arithmetic, and without conversion to or from other ids. `Tag` is an incomplete type
/// that distinguishes the ids; `Rep` is an unsigned integer. Trivially copyable, so it is packed as its bytes.
template <class Tag, class Rep>
class typed_id {
 public:
  using rep = Rep;

  constexpr typed_id() noexcept = default;
  constexpr explicit typed_id(Rep value) noexcept : value_(value) {}
  /// From a number of another type, such as the int of a loop; it must have a value of Rep.
  template <std::integral N>
  constexpr explicit typed_id(N value) noexcept : value_(static_cast<Rep>(value)) {}

  [[nodiscard]] constexpr Rep value() const noexcept { return value_; }

  friend constexpr bool operator==(typed_id, typed_id) noexcept = default;
  friend constexpr auto operator<=>(typed_id, typed_id) noexcept = default;

 private:
  Rep value_ = 0;
};

/// A rank of the job, 0 to size - 1.
using rank_id = typed_id<struct rank_tag, std::uint32_t>;
/// A worker thread within its rank.
using worker_id = typed_id<struct worker_tag, std::uint32_t>;
/// A handler. It has the same number on every rank that runs the same binary.
using handler_id = typed_id<struct handler_tag, std::uint32_t>;
/// A type of mobile object. It has the same number on every rank that runs the same binary.
using type_id = typed_id<struct type_tag, std::uint32_t>;

/// The name of a mobile object, which stays the same wherever the object moves. It consists of the object's birth, the
/// rank that gave the name, and of a number that this rank never gives twice. The home of the object, the rank that
/// knows where it is, is its birth in most jobs: see operations::home_of. Zero means no object; numbers start at
/// 1, so the id of every created object is valid().
class object_id {
 public:
  static constexpr unsigned home_bits = 24;
  static constexpr unsigned index_bits = 40;
  static constexpr std::uint64_t index_max = (std::uint64_t{1} << index_bits) - 1;
  static constexpr std::uint32_t home_max = (std::uint32_t{1} << home_bits) - 1;
  /// The upper half of the numbers is for elements of arrays. Their numbers are computed from their places, so a new
  /// element at the place of an erased one gets its number again.
  static constexpr std::uint64_t first_element = std::uint64_t{1} << (index_bits - 1);

  constexpr object_id() noexcept = default;

  /// Aborts when `birth` exceeds home_max, or when `index` is 0 or exceeds index_max.
  constexpr object_id(rank_id birth, std::uint64_t index)
      : value_((static_cast<std::uint64_t>(birth.value()) << index_bits) | index) {
    NACRE_EXPECT(birth.value() <= home_max, "a rank in a name has 24 bits");
    NACRE_EXPECT(index >= 1 && index <= index_max, "an object's index has 40 bits and starts at 1");
  }

  /// Restores an id from value(), for example from a message. Any number is accepted; check it by valid().
  [[nodiscard]] static constexpr object_id from_value(std::uint64_t value) noexcept {
    object_id id;
    id.value_ = value;
    return id;
  }

  [[nodiscard]] constexpr rank_id birth() const noexcept {
    return rank_id{static_cast<std::uint32_t>(value_ >> index_bits)};
  }
  [[nodiscard]] constexpr std::uint64_t index() const noexcept { return value_ & index_max; }
  [[nodiscard]] constexpr std::uint64_t value() const noexcept { return value_; }
  [[nodiscard]] constexpr bool valid() const noexcept { return value_ != 0; }
  [[nodiscard]] constexpr bool is_element() const noexcept { return (value_ & first_element) != 0; }

  friend constexpr bool operator==(object_id, object_id) noexcept = default;
  friend constexpr auto operator<=>(object_id, object_id) noexcept = default;

 private:
  std::uint64_t value_ = 0;
};

namespace detail {

/// Spreads consecutive numbers over all bits, so that a table with a power of two as its size may mask the hash.
[[nodiscard]] constexpr std::size_t mix_bits(std::uint64_t value) noexcept {
  value ^= value >> 32;
  value *= 0x9e3779b97f4a7c15U;
  value ^= value >> 29;
  return static_cast<std::size_t>(value);
}

}  // namespace detail
}  // namespace nacre

template <class Tag, class Rep>
struct std::hash<nacre::typed_id<Tag, Rep>> {
  [[nodiscard]] std::size_t operator()(nacre::typed_id<Tag, Rep> id) const noexcept {
    return nacre::detail::mix_bits(id.value());
  }
};

template <>
struct std::hash<nacre::object_id> {
  [[nodiscard]] std::size_t operator()(nacre::object_id id) const noexcept {
    return nacre::detail::mix_bits(id.value());
  }
};
