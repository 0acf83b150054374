// SPDX-License-Identifier: Apache-2.0
// The inner loop of reading: values of a fixed number of bytes, and the making of objects to read into.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include <nacre/archive/reader.hpp>

namespace nacre::detail {

template <flat T>
inline void clear_flat(T& value) noexcept {
  if constexpr (std::is_array_v<T>) {
    for (auto& element : value) clear_flat(element);
  } else if constexpr (std::is_default_constructible_v<T> && std::is_nothrow_move_assignable_v<T>) {
    value = T();
  } else if constexpr (std::is_trivially_copyable_v<T>) {
    std::memset(static_cast<void*>(std::addressof(value)), 0, sizeof(T));
  } else {
    std::apply([](auto&... element) { (clear_flat(element), ...); }, value);
  }
}

/// Reads a flat value at `source` and returns its end. A bad bool or enum is reported to `ar`.
template <flat T>
inline const std::byte* fetch_flat(reader& ar, const std::byte* source, T& value) noexcept {
  if constexpr (nothing<T>) {
    return source;
  } else if constexpr (bitwise<T>) {
    std::memcpy(static_cast<void*>(std::addressof(value)), source, sizeof(T));
    return source + sizeof(T);
  } else if constexpr (std::same_as<T, bool>) {
    const auto octet = std::to_integer<unsigned>(*source);
    if (octet > 1) [[unlikely]]
      ar.fail(wire_error::bad_enum_or_bool);
    value = octet == 1;
    return source + sizeof(T);
  } else if constexpr (checked_enum<T>) {
    std::underlying_type_t<T> number;
    std::memcpy(&number, source, sizeof(T));
    value = static_cast<T>(number);
    if (!wire_valid(value)) [[unlikely]]
      ar.fail(wire_error::bad_enum_or_bool);
    return source + sizeof(T);
  } else if constexpr (tuple_like<T>) {
    std::apply([&](auto&... element) { ((source = fetch_flat(ar, source, element)), ...); }, value);
    return source;
  } else {
    for (auto& element : value) source = fetch_flat(ar, source, element);
    return source;
  }
}

template <class T>
inline T bitwise_value(const std::byte* source) noexcept {
  std::array<std::byte, sizeof(T)> bytes{};
  if (source != nullptr) std::memcpy(bytes.data(), source, sizeof(T));
  return std::bit_cast<T>(bytes);
}

template <class T>
T blank();

/// Makes a variant, tuple, pair or array of which some part has no default constructor.
template <class T>
inline T blank_compound() {
  if constexpr (is_a<T, std::variant>) {
    return T(std::in_place_index<0>, blank<std::variant_alternative_t<0, T>>());
  } else {
    constexpr auto fill = []<std::size_t... Index>(std::index_sequence<Index...>) {
      return T{blank<std::tuple_element_t<Index, T>>()...};
    };
    return fill(std::make_index_sequence<std::tuple_size_v<T>>{});
  }
}

/// Calls make() with constructor arguments for a T that will be overwritten.
template <class T>
inline decltype(auto) constructing(auto&& make) {
  static_assert(blankable<T>,
                "nacre: this type must be made before it can be read; give it a default constructor, or an `explicit "
                "T(nacre::deserialize_tag)`");
  if constexpr (std::is_default_constructible_v<T>) {
    return make();
  } else if constexpr (std::is_constructible_v<T, deserialize_tag>) {
    return make(deserialize_tag{});
  } else if constexpr (bitwise<T>) {
    return make(bitwise_value<T>(nullptr));
  } else {
    return make(blank_compound<T>());
  }
}

/// Makes a T that will be overwritten.
template <class T>
inline T blank() {
  return constructing<T>([](auto... argument) { return T(std::move(argument)...); });
}

}  // namespace nacre::detail
