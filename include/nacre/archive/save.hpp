// SPDX-License-Identifier: Apache-2.0
// How each type is written: one definition for the writer, which stores, and the sizer, which counts.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <variant>

#include <nacre/archive/packable.hpp>
#include <nacre/archive/type_name.hpp>

namespace nacre {

/// How deep user types, containers and owning pointers may nest in one value. The limit bounds the stack that a forged
/// message can make the reader use. Packing a value that exceeds it throws usage_error, since no reader could take the
/// bytes.
inline constexpr std::uint16_t archive_depth_max = 256;

/// The largest alignment, in bytes, that arrays get inside a payload. The memory of a payload must have it for views.
inline constexpr std::size_t archive_alignment = 16;

namespace detail {

/// Written in place of a length: the true length follows in 8 bytes.
inline constexpr std::uint32_t length_escape = 0xffff'ffff;

template <class T>
inline constexpr std::size_t alignment_of = std::min(alignof(T), archive_alignment);

/// Writes a flat value to `target` and returns the end.
template <flat T>
inline std::byte* store_flat(std::byte* target, const T& value) noexcept {
  if constexpr (nothing<T>) {
    return target;
  } else if constexpr (bitwise<T> || checked_enum<T> || std::same_as<T, bool>) {
    std::memcpy(target, std::addressof(value), sizeof(T));
    return target + sizeof(T);
  } else if constexpr (tuple_like<T>) {
    std::apply([&](const auto&... element) { ((target = store_flat(target, element)), ...); }, value);
    return target;
  } else {
    for (const auto& element : value) target = store_flat(target, element);
    return target;
  }
}

template <class Ar, class T>
void save_value(Ar& ar, const T& value);

template <class Ar, class T>
inline void save_block(Ar& ar, const T* first, std::size_t count) {
  ar.write_length(count);
  if (count == 0) return;
  ar.align(alignment_of<T>);
  ar.write_bytes(first, count * sizeof(T));
}

/// An element that packs to nothing is followed by one zero byte, so that a length never exceeds the bytes after it.
template <class Ar, class... Ts>
inline void save_element(Ar& ar, const Ts&... parts) {
  if constexpr ((least_size<Ts>() + ... + 0) > 0) {
    (save_value(ar, parts), ...);
  } else {
    const std::size_t previous = ar.size();
    (save_value(ar, parts), ...);
    if (ar.size() == previous) ar.write_flat(std::uint8_t{0});
  }
}

template <class Ar>
void save_bits(Ar& ar, const auto& bits, auto&& bit_at) {
  const std::size_t count = bits.size();
  for (std::size_t i = 0; i < count; i += 8) {
    unsigned octet = 0;
    for (std::size_t j = i; j < std::min(count, i + 8); ++j) octet |= unsigned{bit_at(bits, j)} << (j - i);
    ar.write_flat(static_cast<std::uint8_t>(octet));
  }
}

template <class Ar, class T>
void save_range(Ar& ar, const T& value) {
  if constexpr (forward_list_like<T>) {
    ar.write_length(static_cast<std::size_t>(std::distance(value.begin(), value.end())));
  } else {
    ar.write_length(value.size());
  }
  for (const auto& element : value) {
    if constexpr (map_like<T>) {
      save_element(ar, element.first, element.second);
    } else {
      save_element(ar, element);
    }
  }
}

template <class Ar, class T>
inline void save_custom(Ar& ar, const T& value) {
  static_assert(custom_save<T, Ar>, "nacre: this type has a `load` but no `save(Archive&) const` for writing");
  if constexpr (member_serialize<T, Ar>) {
    archive_access::serialize(ar, const_cast<T&>(value));  // one function both reads and writes; writing only looks
  } else if constexpr (member_save<T, Ar>) {
    archive_access::save(ar, value);
  } else if constexpr (free_serialize<T, Ar>) {
    serialize(ar, const_cast<T&>(value));
  } else {
    save(ar, value);
  }
}

/// Throw unpackable_value; `name`: that of the class.
[[noreturn]] void throw_too_deep(std::string_view name);
[[noreturn]] void throw_valueless(std::string_view name);

template <class Ar, class T>
void save_nested(Ar& ar, const T& value) {
  if (!ar.enter()) [[unlikely]] {
    if constexpr (owning_pointer<T>) {
      throw_too_deep(type_name<typename T::element_type>());
    } else {
      throw_too_deep(type_name<T>());
    }
  }
  if constexpr (custom<T>) {
    save_custom(ar, value);
  } else if constexpr (owning_pointer<T>) {
    if constexpr (lists_classes<std::remove_cv_t<typename T::element_type>>) {
      save_listed<Ar, std::remove_cv_t<typename T::element_type>>(ar, value.get());
    } else {
      ar.write_flat(value != nullptr);
      if (value != nullptr) save_value(ar, *value);
    }
  } else {
    save_range(ar, value);
  }
  ar.leave();
}

template <class Ar, class T>
inline void save_value(Ar& ar, const T& value) {
  explain_unpackable<T>();
  if constexpr (flat<T>) {
    ar.write_flat(value);
  } else if constexpr (custom<T>) {
    save_nested(ar, value);
  } else if constexpr (bool_vector<T>) {
    ar.write_length(value.size());
    save_bits(ar, value, [](const T& bits, std::size_t i) { return bool{bits[i]}; });
  } else if constexpr (bit_array<T>) {
    save_bits(ar, value, [](const T& bits, std::size_t i) { return bits.test(i); });
  } else if constexpr (view<T>) {
    save_block(ar, value.data(), value.size());
  } else if constexpr (block<T>) {
    save_block(ar, static_cast<const typename T::value_type*>(value.data()), value.size());
  } else if constexpr (is_a<T, std::optional>) {
    ar.write_flat(value.has_value());
    if (value.has_value()) save_value(ar, *value);
  } else if constexpr (is_a<T, std::variant>) {
    if (value.valueless_by_exception()) [[unlikely]]
      throw_valueless(type_name<T>());
    ar.write_flat(static_cast<std::uint8_t>(value.index()));
    std::visit([&ar](const auto& alternative) { save_value(ar, alternative); }, value);
  } else if constexpr (tuple_like<T>) {
    std::apply([&](const auto&... element) { (save_value(ar, element), ...); }, value);
  } else if constexpr (owning_pointer<T> || container<T>) {
    save_nested(ar, value);
  } else if constexpr (std::is_array_v<T> || fixed_array<T>) {
    for (const auto& element : value) save_value(ar, element);
  }
}

}  // namespace detail
}  // namespace nacre
