// SPDX-License-Identifier: Apache-2.0
// Which types can be packed at all, and how few bytes they may take.
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include <nacre/archive/polymorphic.hpp>
#include <nacre/archive/traits.hpp>

namespace nacre {
namespace detail {

/// Returns the least number of bytes that a T packs to; 0 when it is unknown, as for types with their own `serialize`.
template <class T>
consteval std::size_t least_size() {
  if constexpr (custom<T>) {
    return 0;
  } else if constexpr (flat<T>) {
    return flat_size<T>();
  } else if constexpr (std::is_array_v<T>) {
    return std::extent_v<T> * least_size<std::remove_extent_t<T>>();
  } else if constexpr (fixed_array<T>) {
    return std::tuple_size<T>::value * least_size<typename T::value_type>();
  } else if constexpr (tuple_like<T>) {
    constexpr auto sum = []<std::size_t... Index>(std::index_sequence<Index...>) {
      return (std::size_t{0} + ... + least_size<std::remove_cv_t<std::tuple_element_t<Index, T>>>());
    };
    return sum(std::make_index_sequence<std::tuple_size<T>::value>{});
  } else if constexpr (bit_array<T>) {
    return 0;
  } else if constexpr (view<T> || container<T>) {
    return 4;
  } else {
    return 1;
  }
}

template <class T>
consteval bool is_blankable() {
  if constexpr (bitwise<T> || std::is_default_constructible_v<T> || std::is_constructible_v<T, deserialize_tag>) {
    return true;
  } else if constexpr (is_a<T, std::variant>) {
    return is_blankable<std::variant_alternative_t<0, T>>();
  } else if constexpr (has_tuple_size<T>) {
    constexpr auto all = []<std::size_t... Index>(std::index_sequence<Index...>) {
      return (is_blankable<std::tuple_element_t<Index, T>>() && ...);
    };
    return all(std::make_index_sequence<std::tuple_size_v<T>>{});
  } else {
    return false;
  }
}
/// An object of type T can be made before its value is read.
template <class T>
concept blankable = is_blankable<T>();

template <class T>
consteval bool is_packable();
template <class Tuple>
consteval bool are_packable() {
  constexpr auto all = []<std::size_t... Index>(std::index_sequence<Index...>) {
    return (is_packable<std::remove_cv_t<std::tuple_element_t<Index, Tuple>>>() && ...);
  };
  return all(std::make_index_sequence<std::tuple_size<Tuple>::value>{});
}
template <class... Ts>
consteval bool alternatives_packable(std::variant<Ts...>*) {
  return sizeof...(Ts) < 255 && (is_packable<Ts>() && ...);
}

template <class... Class>
consteval bool classes_packable(std::tuple<std::type_identity<Class>...>*) {
  return ((is_packable<Class>() && is_blankable<Class>()) && ...);
}

template <class T>
consteval bool is_packable() {
  if constexpr (custom<T>) {
    return true;
  } else if constexpr (view<T>) {
    return bitwise<typename T::value_type> || std::same_as<typename T::value_type, bool>;
  } else if constexpr (addresses<T>) {
    return false;
  } else if constexpr (flat<T> || bit_array<T> || bool_vector<T>) {
    return true;
  } else if constexpr (std::is_array_v<T>) {
    return is_packable<std::remove_extent_t<T>>();
  } else if constexpr (owning_pointer<T>) {
    using element = std::remove_cv_t<typename T::element_type>;
    if constexpr (lists_classes<element>) {
      return classes_packable(static_cast<classes_listed_for<element>*>(nullptr));
    } else {
      return !slicing_owner<T> && is_packable<element>();
    }
  } else if constexpr (is_a<T, std::variant>) {
    return alternatives_packable(static_cast<T*>(nullptr));
  } else if constexpr (tuple_like<T>) {
    return are_packable<T>();
  } else if constexpr (container<T> && extends_container<T>()) {
    return false;
  } else if constexpr (map_like<T>) {
    return is_packable<typename T::key_type>() && is_packable<typename T::mapped_type>();
  } else if constexpr (is_a<T, std::optional> || fixed_array<T> || container<T>) {
    return is_packable<typename T::value_type>();
  } else {
    return false;
  }
}

}  // namespace detail

/// T can be packed: it has `serialize`, or `save` and `load`; or it is a std type of packable types; or it is trivially
/// copyable. A trivially copyable class is packed as its bytes, with addresses inside it: of a class without
/// constructors that has a pointer among its members, the rank that gets it says so on standard error, once.
template <class T>
concept serializable = detail::is_packable<std::remove_cv_t<T>>();

namespace detail {

/// Does not compile for a type that cannot be packed; the compiler's message gives the reason.
template <class T>
consteval void explain_unpackable() {
  static_assert(!addresses<T> || view<T> || custom<T>,
                "nacre: a pointer, reference or iterator means nothing on another rank; send the object itself, a "
                "std::unique_ptr to it, or a nacre::mobile_ptr");
  static_assert(!slicing_owner<T> || custom<T>,
                "nacre: of a pointer to a polymorphic class only the base would arrive: list the classes that it may "
                "own, beside the base: `constexpr nacre::polymorphic<shape, disc, square> classes_of(const shape*) { "
                "return {}; }`, or own a final class");
  static_assert(custom<T> || !container<T> || !extends_container<T>(),
                "nacre: a class that is derived from a container would arrive without its own members: write `template "
                "<class Archive> void serialize(Archive& ar)` in it, which names them and the elements");
  static_assert(addresses<T> || slicing_owner<T> || serializable<T> || extends_container<T>(),
                "nacre: this type cannot be packed; write `template <class Archive> void serialize(Archive& ar) { "
                "ar(every, member); }` in it (a private one needs `friend class nacre::archive_access`), or a pair of "
                "`save(Archive&) const` and `load(Archive&)`; its members "
                "must be packable too, and contain no pointers");
}

}  // namespace detail

}  // namespace nacre
