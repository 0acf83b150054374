// SPDX-License-Identifier: Apache-2.0
// Which classes that are packed as their bytes have a pointer among their members.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <nacre/archive/traits.hpp>

namespace nacre::detail {

// Stand for arguments of an aggregate's initialisation, in unevaluated expressions only. any_member converts to any
// type, any_pointer to pointers only.
struct any_member {
  template <class T>
  operator T() const noexcept;
};
struct any_pointer {
  template <class T>
  operator T*() const noexcept;
};

/// Whether the member behind the members `Before`, or a later one of the first 32, can be a pointer.
template <class T, class... Before>
consteval bool has_pointer_behind() {
  constexpr std::size_t members_max = 32;
  if constexpr (requires { T{Before{}..., any_pointer{}}; }) {
    return true;
  } else if constexpr (sizeof...(Before) < members_max && requires { T{Before{}..., any_member{}}; }) {
    return has_pointer_behind<T, Before..., any_member>();
  } else {
    return false;
  }
}

/// A class without constructors that is packed as its bytes, and among the first members of which is a pointer, or an
/// array or a class that begins with one. Other addresses in bytes cannot be recognised.
template <class T>
inline constexpr bool holds_addresses = [] {
  if constexpr (std::is_class_v<T> && std::is_aggregate_v<T> && bitwise<T> && !fixed_array<T>) {
    return has_pointer_behind<T>();
  } else {
    return false;
  }
}();
template <class T>
inline constexpr bool holds_addresses<const T> = holds_addresses<T>;
template <class T, std::size_t N>
inline constexpr bool holds_addresses<T[N]> = holds_addresses<T>;
template <class T, std::size_t N>
inline constexpr bool holds_addresses<std::array<T, N>> = holds_addresses<T>;
template <class T>
inline constexpr bool holds_addresses<std::vector<T>> = holds_addresses<T>;
template <class T>
inline constexpr bool holds_addresses<std::optional<T>> = holds_addresses<T>;
template <class... T>
inline constexpr bool holds_addresses<std::pair<T...>> = (holds_addresses<T> || ...);
template <class... T>
inline constexpr bool holds_addresses<std::tuple<T...>> = (holds_addresses<T> || ...);

}  // namespace nacre::detail
