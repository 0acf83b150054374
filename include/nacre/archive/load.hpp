// SPDX-License-Identifier: Apache-2.0
// How each type is read back from bytes that are not trusted.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include <nacre/archive/fetch.hpp>

namespace nacre::detail {

/// Reads an element that save_element wrote.
template <class... Ts>
inline void load_element(reader& ar, Ts&... parts) {
  if constexpr ((least_size<Ts>() + ... + 0) > 0) {
    (load_value(ar, parts), ...);
  } else {
    const std::size_t previous = ar.position();
    (load_value(ar, parts), ...);
    std::uint8_t filler = 0;
    if (ar.position() == previous) ar.read_flat(filler);
    if (filler != 0) ar.fail(wire_error::bad_enum_or_bool);
  }
}

template <class T>
void load_block(reader& ar, T& value) {
  using element = typename T::value_type;
  value.clear();
  const std::size_t count = ar.read_length(sizeof(element));
  if (count == 0) return;
  ar.align(alignment_of<element>);
  const std::byte* source = ar.view_bytes(count * sizeof(element)).data();
  if (source == nullptr) return;
  if (reinterpret_cast<std::uintptr_t>(source) % alignof(element) == 0) [[likely]] {
    const auto* first = reinterpret_cast<const element*>(source);
    value.assign(first, first + count);
  } else {
    for (std::size_t i = 0; i < count; ++i) value.push_back(bitwise_value<element>(source + i * sizeof(element)));
  }
}

template <class T>
void load_view(reader& ar, T& value) {
  using element = typename T::value_type;
  if constexpr (is_span<T>) {
    static_assert(std::is_const_v<typename T::element_type> && T::extent == std::dynamic_extent,
                  "nacre: a view into a message is read-only and of any length; write `std::span<const T>`");
  }
  static_assert(alignof(element) <= archive_alignment,
                "nacre: a message is aligned to 16 bytes, so a handler cannot look at elements in it that need more: "
                "take const std::vector<T>& instead of std::span<const T>");
  value = T();
  const std::size_t count = ar.read_length(sizeof(element));
  if (count == 0) return;
  ar.align(alignof(element));
  const std::byte* source = ar.view_bytes(count * sizeof(element)).data();
  if (source == nullptr) return;
  if (reinterpret_cast<std::uintptr_t>(source) % alignof(element) != 0) return ar.fail(wire_error::misaligned);
  if constexpr (std::same_as<element, bool>) {
    const bool good =
        std::all_of(source, source + count, [](std::byte b) { return std::to_integer<unsigned>(b) <= 1; });
    if (!good) return ar.fail(wire_error::bad_enum_or_bool);
  }
  value = T(reinterpret_cast<const element*>(source), count);
}

/// Reads `count` bits, the first in the lowest bit of the first byte. Unused bits of the last byte must be zero.
inline void load_bits(reader& ar, std::size_t count, auto&& set_bit) {
  const auto octets = ar.view_bytes(count / 8 + (count % 8 != 0 ? 1 : 0));
  if (octets.empty()) return;
  if (count % 8 != 0 && (std::to_integer<unsigned>(octets.back()) >> (count % 8)) != 0) {
    return ar.fail(wire_error::bad_enum_or_bool);
  }
  for (std::size_t i = 0; i < count; ++i) set_bit(i, ((std::to_integer<unsigned>(octets[i / 8]) >> (i % 8)) & 1) != 0);
}

template <class T>
void load_keyed(reader& ar, T& value, std::size_t count) {
  for (std::size_t i = 0; i < count && ar.ok(); ++i) {
    auto key = blank<typename T::key_type>();
    if constexpr (map_like<T>) {
      auto mapped = blank<typename T::mapped_type>();
      load_element(ar, key, mapped);
      if (ar.ok()) value.emplace_hint(value.end(), std::move(key), std::move(mapped));
    } else {
      load_element(ar, key);
      if (ar.ok()) value.emplace_hint(value.end(), std::move(key));
    }
  }
  if (ar.ok() && value.size() != count) ar.fail(wire_error::duplicate_key);
}

template <class T>
void load_range(reader& ar, T& value) {
  using element = typename T::value_type;
  value.clear();
  std::size_t count = 0;
  if constexpr (map_like<T>) {
    count = ar.read_length(least_size<typename T::key_type>() + least_size<typename T::mapped_type>());
  } else {
    count = ar.read_length(least_size<element>());
  }
  if (count == 0) return;
  // A forged length may still be as large as the rest of the payload, so never reserve more memory than that rest.
  if constexpr (requires { value.reserve(count); }) {
    value.reserve(std::min(count, ar.remaining() / (sizeof(element) + 2 * sizeof(void*))));
  }
  if constexpr (map_like<T> || set_like<T>) {
    load_keyed(ar, value, count);
  } else if constexpr (forward_list_like<T>) {
    auto last = value.before_begin();
    for (std::size_t i = 0; i < count && ar.ok(); ++i) {
      last = constructing<element>([&](auto... argument) { return value.emplace_after(last, std::move(argument)...); });
      load_element(ar, *last);
    }
  } else {
    for (std::size_t i = 0; i < count && ar.ok(); ++i) {
      constructing<element>([&](auto... argument) { value.emplace_back(std::move(argument)...); });
      load_element(ar, value.back());
    }
  }
  if (!ar.ok()) value.clear();
}

/// Reads an object of the class Held into its owner.
template <class Held, class T>
void load_owned(reader& ar, T& value) {
  auto owned = constructing<Held>([](auto... argument) { return std::make_unique<Held>(std::move(argument)...); });
  load_value(ar, *owned);
  if (ar.ok()) value = std::move(owned);
}

template <class T>
void load_pointer(reader& ar, T& value) {
  using element = std::remove_cv_t<typename T::element_type>;
  value.reset();
  if constexpr (lists_classes<element>) {
    static_assert(
        std::has_virtual_destructor_v<element> || is_a<T, std::shared_ptr>,
        "nacre: a std::unique_ptr deletes what it owns as its base, which needs a virtual destructor for that");
    std::uint8_t kind = 0;
    ar.read_flat(kind);
    if (kind == 0) return;
    const bool is_listed = visit_listed<element>([&]<class Held>(std::uint8_t number, std::type_identity<Held>) {
      if (number == kind) load_owned<Held>(ar, value);
      return number == kind;
    });
    if (!is_listed) ar.fail(wire_error::bad_variant_index);
  } else {
    bool present = false;
    ar.read_flat(present);
    if (present) load_owned<element>(ar, value);
  }
}

template <class T>
void load_optional(reader& ar, T& value) {
  value.reset();
  bool present = false;
  ar.read_flat(present);
  if (!present) return;
  constructing<typename T::value_type>([&](auto... argument) { value.emplace(std::move(argument)...); });
  load_value(ar, *value);
  if (!ar.ok()) value.reset();
}

template <class... Ts>
void load_variant(reader& ar, std::variant<Ts...>& value) {
  std::uint8_t index = 0;
  ar.read_flat(index);
  if (index >= sizeof...(Ts)) {
    ar.fail(wire_error::bad_variant_index);
    index = 0;
  }
  const auto load_alternative = [&]<std::size_t Index>(std::integral_constant<std::size_t, Index>) {
    using alternative = std::variant_alternative_t<Index, std::variant<Ts...>>;
    if (Index != index) return;
    constructing<alternative>([&](auto... argument) { value.template emplace<Index>(std::move(argument)...); });
    if (ar.ok()) load_value(ar, std::get<Index>(value));
  };
  [&]<std::size_t... Index>(std::index_sequence<Index...>) {
    (load_alternative(std::integral_constant<std::size_t, Index>{}), ...);
  }
  (std::index_sequence_for<Ts...>{});
}

template <class T>
inline void load_custom(reader& ar, T& value) {
  static_assert(custom_load<T, reader>, "nacre: this type has a `save` but no `load(Archive&)` for reading");
  if constexpr (member_serialize<T, reader>) {
    archive_access::serialize(ar, value);
  } else if constexpr (member_load<T, reader>) {
    archive_access::load(ar, value);
  } else if constexpr (free_serialize<T, reader>) {
    serialize(ar, value);
  } else {
    load(ar, value);
  }
}

template <class T>
void load_nested(reader& ar, T& value) {
  if (!ar.enter()) return;
  if constexpr (custom<T>) {
    load_custom(ar, value);
  } else if constexpr (owning_pointer<T>) {
    load_pointer(ar, value);
  } else {
    load_range(ar, value);
  }
  ar.leave();
}

template <class T>
inline void load_value(reader& ar, T& value) {
  static_assert(!std::is_const_v<T>, "nacre: a constant cannot be read into");
  explain_unpackable<T>();
  if constexpr (flat<T>) {
    ar.read_flat(value);
  } else if constexpr (custom<T>) {
    load_nested(ar, value);
  } else if constexpr (bool_vector<T>) {
    value.assign(ar.read_bit_length(), false);
    load_bits(ar, value.size(), [&value](std::size_t i, bool bit) { value[i] = bit; });
    if (!ar.ok()) value.clear();
  } else if constexpr (bit_array<T>) {
    value.reset();
    load_bits(ar, value.size(), [&value](std::size_t i, bool bit) { value.set(i, bit); });
  } else if constexpr (view<T>) {
    load_view(ar, value);
  } else if constexpr (block<T>) {
    load_block(ar, value);
  } else if constexpr (is_a<T, std::optional>) {
    load_optional(ar, value);
  } else if constexpr (is_a<T, std::variant>) {
    load_variant(ar, value);
  } else if constexpr (tuple_like<T>) {
    std::apply([&](auto&... element) { (load_value(ar, element), ...); }, value);
  } else if constexpr (owning_pointer<T> || container<T>) {
    load_nested(ar, value);
  } else if constexpr (std::is_array_v<T> || fixed_array<T>) {
    for (auto& element : value) load_value(ar, element);
  }
}

}  // namespace nacre::detail
