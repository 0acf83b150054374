// SPDX-License-Identifier: Apache-2.0
// Which types an archive can pack, and how: the classification that writer, sizer and reader share.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace nacre {

class writer;
class sizer;
class reader;

/// A type without a default constructor may offer `explicit T(nacre::deserialize_tag)`: it makes any valid object,
/// which is then overwritten by its `serialize` or `load`.
struct deserialize_tag {
  explicit deserialize_tag() = default;
};

/// `friend class nacre::archive_access;` lets archives call private `serialize`, `save` and `load` members.
class archive_access {
 public:
  template <class Archive, class T>
  static auto serialize(Archive& ar, T& value) -> decltype(void(value.serialize(ar))) {
    value.serialize(ar);
  }
  template <class Archive, class T>
  static auto save(Archive& ar, const T& value) -> decltype(void(value.save(ar))) {
    value.save(ar);
  }
  template <class Archive, class T>
  static auto load(Archive& ar, T& value) -> decltype(void(value.load(ar))) {
    value.load(ar);
  }
};

namespace detail {

template <class T, class Ar>
concept member_serialize = requires(T& value, Ar& ar) {
  archive_access::serialize(ar, value);
};
template <class T, class Ar>
concept member_save = requires(const T& value, Ar& ar) {
  archive_access::save(ar, value);
};
template <class T, class Ar>
concept member_load = requires(T& value, Ar& ar) {
  archive_access::load(ar, value);
};
template <class T, class Ar>
concept free_serialize = requires(T& value, Ar& ar) {
  serialize(ar, value);
};
template <class T, class Ar>
concept free_save = requires(const T& value, Ar& ar) {
  save(ar, value);
};
template <class T, class Ar>
concept free_load = requires(T& value, Ar& ar) {
  load(ar, value);
};

template <class T>
concept user_definable = std::is_class_v<T> || std::is_union_v<T> || std::is_enum_v<T>;

template <class T, class Ar>
concept custom_save = user_definable<T> &&
    (member_serialize<T, Ar> || member_save<T, Ar> || free_serialize<T, Ar> || free_save<T, Ar>);
template <class T, class Ar>
concept custom_load = user_definable<T> &&
    (member_serialize<T, Ar> || member_load<T, Ar> || free_serialize<T, Ar> || free_load<T, Ar>);

/// The user says how T is packed. Both halves are demanded later, so that a forgotten `load` is a compile-time error.
template <class T>
concept custom = custom_save<T, writer> || custom_load<T, reader>;

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
concept owning_pointer = is_a<T, std::unique_ptr> || is_a<T, std::shared_ptr>;
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
/// std::array and its likes; C arrays are handled beside it.
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

/// Types whose bytes are an address, or hold one that can be recognised.
template <class T>
concept addresses = std::is_pointer_v<T> || std::is_member_pointer_v<T> || std::is_null_pointer_v<T> ||
    std::is_reference_v<T> || std::is_function_v<T> || is_a<T, std::reference_wrapper> ||
    is_a<T, std::initializer_list> || std::ranges::enable_view<T> || std::input_or_output_iterator<T> || requires {
  T::from_address(nullptr);
};

template <class T>
consteval bool is_bitwise();
/// Packed as its own bytes, and every byte pattern is accepted on reading.
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
    if constexpr (std::tuple_size<T>::value == 0)
      return false;
    else
      return std::is_trivially_copyable_v<T> && is_bitwise<typename T::value_type>();
  } else if constexpr (view<T> || tuple_like<T> || bit_array<T> || is_a<T, std::optional> || is_a<T, std::variant>) {
    return false;
  } else {
    return std::is_trivially_copyable_v<T> && std::is_copy_assignable_v<T> && !std::is_empty_v<T>;
  }
}

/// Packed as a length and one copy of all elements.
template <class T>
concept block = contiguous<T> && bitwise<typename T::value_type>;

/// Carries no information: std::monostate, tags, comparators. Packs to nothing.
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
    return []<std::size_t... I>(std::index_sequence<I...>) { return flat_sum<std::tuple_element_t<I, T>...>(); }
    (std::make_index_sequence<std::tuple_size<T>::value>{});
  } else {
    return nothing<T> ? 0 : not_flat;
  }
}
template <class T>
concept flat = flat_size<T>()
!= not_flat;

/// The least number of bytes that a T packs to. 0 when that is unknown, as it is for types with their own `serialize`.
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
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return (std::size_t{0} + ... + least_size<std::remove_cv_t<std::tuple_element_t<I, T>>>());
    }
    (std::make_index_sequence<std::tuple_size<T>::value>{});
  } else if constexpr (view<T> || range<T>) {
    return 4;
  } else {
    return 1;
  }
}

/// Whether T can be made before it is read.
template <class T>
concept constructible_empty =
    bitwise<T> || std::is_default_constructible_v<T> || std::is_constructible_v<T, deserialize_tag>;

template <class T>
consteval bool is_packable();
template <class Pair>
consteval bool are_packable() {
  return []<std::size_t... I>(std::index_sequence<I...>) {
    return (is_packable<std::remove_cv_t<std::tuple_element_t<I, Pair>>>() && ...);
  }
  (std::make_index_sequence<std::tuple_size<Pair>::value>{});
}
template <class... Ts>
consteval bool alternatives_packable(std::variant<Ts...>*) {
  return sizeof...(Ts) < 255 && (is_packable<Ts>() && ...);
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
    using element = typename T::element_type;
    return !std::is_array_v<element> &&
           (!std::is_polymorphic_v<element> || std::is_final_v<element>)&&is_packable<std::remove_cv_t<element>>();
  } else if constexpr (is_a<T, std::variant>) {
    return alternatives_packable(static_cast<T*>(nullptr));
  } else if constexpr (tuple_like<T> && !fixed_array<T>) {
    return are_packable<T>();
  } else if constexpr (map_like<T>) {
    return is_packable<typename T::key_type>() && is_packable<typename T::mapped_type>();
  } else if constexpr (is_a<T, std::optional> || fixed_array<T> || range<T>) {
    return is_packable<typename T::value_type>();
  } else {
    return false;
  }
}

}  // namespace detail

/// T can be packed: it says how itself (`serialize`, or `save` and `load`), is a std type of such types, or is
/// trivially copyable. A trivially copyable class is taken as its bytes: addresses inside it cannot be detected.
template <class T>
concept serializable = detail::is_packable<std::remove_cv_t<T>>();

}  // namespace nacre
