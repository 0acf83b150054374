// SPDX-License-Identifier: Apache-2.0
// Objects by their names in the oracle: of which type they are, and mobile pointers to them.
#pragma once

#include <cstdint>
#include <type_traits>

#include <nacre/nacre.hpp>

#include "campaign/program.hpp"

namespace campaign {

/// Of an object that is no element: three of seven say how they are to be found.
[[nodiscard]] constexpr nacre::location_policy policy_of(std::uint32_t object) noexcept {
  return object % 14 < 8 ? nacre::location_policy::of_program : nacre::location_policy(object % 14 - 7);
}
/// Elements and the most common objects are of one type. They take part in colocations, so their coroutines do not
/// await other objects where there are any.
[[nodiscard]] inline bool is_plain(const world& in, std::uint32_t object) {
  return in.truth.target_of(object) != object || in.truth.is_place(object) ||
         policy_of(object) == nacre::location_policy::of_program;
}

/// body(std::type_identity<T>{}) with the type of an object.
template <class Body>
decltype(auto) with_type(const world& in, std::uint32_t object, Body&& body) {
  using enum nacre::location_policy;
  switch (is_plain(in, object) ? of_program : policy_of(object)) {
    case lazy_forwarding:
      return body(std::type_identity<cell_found_by<lazy_forwarding>>{});
    case jump_update:
      return body(std::type_identity<cell_found_by<jump_update>>{});
    case path_update:
      return body(std::type_identity<cell_found_by<path_update>>{});
    case home:
      return body(std::type_identity<cell_found_by<home>>{});
    case broadcast_update:
      return body(std::type_identity<cell_found_by<broadcast_update>>{});
    case subscriber_update:
      return body(std::type_identity<cell_found_by<subscriber_update>>{});
    default:
      return body(std::type_identity<cell>{});
  }
}

/// body(mobile_ptr<T>) of an object.
template <class Body>
decltype(auto) with_pointer(const world& in, std::uint32_t object, Body&& body) {
  return with_type(in, object, [&]<class T>(std::type_identity<T>) -> decltype(auto) {
    return body(nacre::mobile_ptr<T>(in.truth.id_of(object)));
  });
}

}  // namespace campaign
