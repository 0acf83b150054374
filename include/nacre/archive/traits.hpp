// SPDX-License-Identifier: Apache-2.0
// The shapes of types that the archives tell apart, and which of them pack to a fixed number of bytes.
#pragma once

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <nacre/archive/adaptors.hpp>
#include <nacre/archive/custom.hpp>

namespace nacre::detail {

template <class T, template <class...> class Template>
inline constexpr bool is_a = false;
template <template <class...> class Template, class... Ts>
inline constexpr bool is_a<Template<Ts...>, Template> = true;

template <class T>
inline constexpr bool is_span = false;
template <class T, std::size_t N>
inline constexpr bool is_span<std::span<T, N>> = true;

template <class T>
concept text_view = is_a<T, std::basic_string_view>;
template <class T>
concept view = is_span<T> || text_view<T>;
template <class T>
concept bool_vector = is_a<T, std::vector> && std::same_as<typename T::value_type, bool>;

template <class T>
inline constexpr bool is_owning_pointer = false;
template <class T>
inline constexpr bool is_owning_pointer<std::unique_ptr<T>> = !std::is_array_v<T>;  // an array's length is unknown
template <class T>
inline constexpr bool is_owning_pointer<std::shared_ptr<T>> = !std::is_array_v<T>;
template <class T>
concept owning_pointer = is_owning_pointer<T>;

template <class T>
concept checked_enum = std::is_enum_v<T> && requires(T value) {
  { wire_valid(value) } -> std::same_as<bool>;
};

template <class T>
concept has_tuple_size = requires {
  std::tuple_size<T>::value;
};
template <class T>
concept has_data = requires(T& value) {
  value.data();
};
/// std::array and similar types; C arrays are handled separately.
template <class T>
concept fixed_array = has_tuple_size<T> && has_data<T>;
template <class T>
concept tuple_like = has_tuple_size<T> && !has_data<T>;
template <class T>
concept bit_array = requires(T& value) {
  value.set(std::size_t{0}, true);
  { value.test(std::size_t{0}) } -> std::same_as<bool>;
  value.flip();
};

template <class T>
concept range = requires(T& value) {
  typename T::value_type;
  value.begin();
  value.end();
  value.clear();
};
template <class T>
concept contiguous = range<T> && !bool_vector<T> && requires(T & value, const typename T::value_type* p) {
  { value.data() } -> std::convertible_to<const typename T::value_type*>;
  value.assign(p, p);
  value.size();
};
template <class T>
concept map_like = range<T> && requires {
  typename T::mapped_type;
  typename T::key_type;
};
template <class T>
concept set_like = range<T> && !map_like<T> && requires {
  typename T::key_type;
};
template <class T>
concept forward_list_like = range<T> && requires(T& value) {
  value.before_begin();
};
template <class T>
concept sequence = range<T> && requires(T& value) {
  value.back();
  value.size();
  value.pop_back();
};
/// Packed as a length and the elements, unless it is a `block` or a `bool_vector`.
template <class T>
concept container = map_like<T> || set_like<T> || forward_list_like<T> || sequence<T>;

template <class T>
concept reference_like = requires(T& value) {
  typename T::type;
  { value.get() } -> std::same_as<typename T::type&>;
};
template <class T>
concept iterator_like = requires(T& value) {
  *value;
  ++value;
  value++;
};
template <class T>
concept coroutine_like = requires {
  T::from_address(nullptr);
};
/// Types that are an address, or hold one that can be recognised.
template <class T>
concept addresses = std::is_pointer_v<T> || std::is_member_pointer_v<T> || std::is_null_pointer_v<T> ||
    std::is_reference_v<T> || std::is_function_v<T> || is_a<T, std::initializer_list> || std::ranges::enable_view<T> ||
    reference_like<T> || iterator_like<T> || coroutine_like<T>;

template <class T>
consteval bool is_bitwise();
/// T is packed as its own bytes, and every byte pattern is accepted on reading.
template <class T>
concept bitwise = is_bitwise<T>();

template <class T>
consteval bool is_bitwise() {
  if constexpr (std::is_array_v<T>) {
    return is_bitwise<std::remove_all_extents_t<T>>();
  } else if constexpr (std::same_as<T, bool> || addresses<T> || custom<T> || checked_enum<T>) {
    return false;
  } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
    return true;
  } else if constexpr (fixed_array<T>) {
    if constexpr (std::tuple_size<T>::value == 0) return false;
    return std::is_trivially_copyable_v<T> && is_bitwise<typename T::value_type>();
  } else if constexpr (view<T> || tuple_like<T> || bit_array<T> || is_a<T, std::optional> || is_a<T, std::variant>) {
    return false;
  } else if constexpr (std::is_trivially_copyable_v<T> && std::is_copy_assignable_v<T> && !std::is_empty_v<T>) {
    return !hides_serialize<T>;
  } else {
    return false;
  }
}

/// T is packed as a length and one copy of all elements.
template <class T>
concept block = contiguous<T> && bitwise<typename T::value_type>;

/// Whether a value of T looks at memory that it does not own, as far as std types show; not inside of classes with a
/// `serialize` of their own.
template <class T>
consteval bool is_or_holds_view();
template <class T>
inline constexpr bool holds_view = is_or_holds_view<std::remove_cv_t<T>>();
template <class... Ts>
consteval bool any_holds_view(std::type_identity<std::tuple<Ts...>>) {
  return (holds_view<Ts> || ...);
}
template <class... Ts>
consteval bool any_holds_view(std::type_identity<std::pair<Ts...>>) {
  return (holds_view<Ts> || ...);
}
template <class... Ts>
consteval bool any_holds_view(std::type_identity<std::variant<Ts...>>) {
  return (holds_view<Ts> || ...);
}

template <class T>
consteval bool is_or_holds_view() {
  if constexpr (view<T>) {
    return true;
  } else if constexpr (std::is_array_v<T>) {
    return holds_view<std::remove_all_extents_t<T>>;
  } else if constexpr (custom<T> || !std::is_class_v<T>) {
    return false;
  } else if constexpr (is_a<T, std::tuple> || is_a<T, std::pair> || is_a<T, std::variant>) {
    return any_holds_view(std::type_identity<T>());
  } else if constexpr (map_like<T>) {
    return holds_view<typename T::key_type> || holds_view<typename T::mapped_type>;
  } else if constexpr (is_a<T, std::optional> || fixed_array<T> || container<T>) {
    return holds_view<typename T::value_type>;
  } else {
    return false;
  }
}

template <class T, class Base>
consteval bool adds_members_to() {
  if constexpr (!std::is_same_v<T, Base> && std::is_class_v<Base>) {
    if constexpr (std::is_base_of_v<Base, T>) return sizeof(T) != sizeof(Base);
  }
  return false;
}
/// Whether T is a class with members of its own that is derived from a std container: packed as that container, T would
/// lose these members. A derived class has the name of its base as the name of a type, by which this function finds the
/// base.
template <class T>
consteval bool extends_container() {
  if constexpr (requires { typename T::vector; }) return adds_members_to<T, typename T::vector>();
  if constexpr (requires { typename T::basic_string; }) return adds_members_to<T, typename T::basic_string>();
  if constexpr (requires { typename T::deque; }) return adds_members_to<T, typename T::deque>();
  if constexpr (requires { typename T::list; }) return adds_members_to<T, typename T::list>();
  if constexpr (requires { typename T::forward_list; }) return adds_members_to<T, typename T::forward_list>();
  if constexpr (requires { typename T::map; }) return adds_members_to<T, typename T::map>();
  if constexpr (requires { typename T::multimap; }) return adds_members_to<T, typename T::multimap>();
  if constexpr (requires { typename T::set; }) return adds_members_to<T, typename T::set>();
  if constexpr (requires { typename T::multiset; }) return adds_members_to<T, typename T::multiset>();
  if constexpr (requires { typename T::unordered_map; }) return adds_members_to<T, typename T::unordered_map>();
  if constexpr (requires { typename T::unordered_set; }) return adds_members_to<T, typename T::unordered_set>();
  return false;
}

/// T carries no information (std::monostate, tags, comparators) and packs to no bytes.
template <class T>
concept nothing =
    std::is_empty_v<T> && std::is_trivially_copyable_v<T> && std::is_default_constructible_v<T> && !custom<T> &&
    !fixed_array<T> && !tuple_like<T>;

inline constexpr std::size_t not_flat = ~std::size_t{0};

template <class T>
consteval std::size_t flat_size();
template <class... Ts>
consteval std::size_t flat_sum() {
  return ((flat_size<std::remove_cv_t<Ts>>() == not_flat) || ...)
             ? not_flat
             : (std::size_t{0} + ... + flat_size<std::remove_cv_t<Ts>>());
}
template <class T>
consteval std::size_t flat_times(std::size_t count) {
  return flat_size<T>() == not_flat ? not_flat : count * flat_size<T>();
}

/// The packed size of T when it is the same for every value and needs no alignment; otherwise `not_flat`.
template <class T>
consteval std::size_t flat_size() {
  if constexpr (addresses<T> || custom<T>) {
    return not_flat;
  } else if constexpr (bitwise<T> || std::same_as<T, bool> || checked_enum<T>) {
    return sizeof(T);
  } else if constexpr (std::is_array_v<T>) {
    return flat_times<std::remove_extent_t<T>>(std::extent_v<T>);
  } else if constexpr (fixed_array<T>) {
    return flat_times<typename T::value_type>(std::tuple_size<T>::value);
  } else if constexpr (tuple_like<T>) {
    constexpr auto sum = []<std::size_t... Index>(std::index_sequence<Index...>) {
      return flat_sum<std::tuple_element_t<Index, T>...>();
    };
    return sum(std::make_index_sequence<std::tuple_size<T>::value>{});
  } else {
    return nothing<T> ? 0 : not_flat;
  }
}
template <class T>
concept flat = (flat_size<T>() != not_flat);

}  // namespace nacre::detail
