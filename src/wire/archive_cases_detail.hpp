// SPDX-License-Identifier: Apache-2.0
// Makes the cases of archive_cases.hpp out of rich_types; included once in a program, since it is slow to compile.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>

#include "wire/archive_cases.hpp"
#include "wire/archive_test_random.hpp"
#include "wire/archive_test_types.hpp"

namespace nacre::test {

/// The operations on one type. Not inlined into each other, so that each is compiled once.
template <class T>
struct case_of {
  [[gnu::noinline]] static T make(rng numbers) { return inventor(numbers).make<T>(); }
  [[gnu::noinline]] static void write(writer& ar, const T& value) { ar(value); }
  [[gnu::noinline]] static std::size_t size(const T& value) { return packed_size(value); }
  [[gnu::noinline]] static void load(reader& ar, T& value) { ar(value); }

  static bytes packed(const T& value) {
    bytes memory(size(value));
    writer ar{std::span<std::byte>(memory)};
    write(ar, value);
    return memory;
  }
  static bytes pack_random(rng numbers) { return packed(make(numbers)); }
  static bytes pack_random_growing(rng numbers) {
    writer ar;
    write(ar, make(numbers));
    return {ar.bytes().begin(), ar.bytes().end()};
  }
  static bytes pack_blank() { return packed(detail::blank<T>()); }

  static reading read_into(T& value, std::span<const std::byte> source) {
    reader ar{source};
    load(ar, value);
    if (!ar.finish()) return {.error = ar.error(), .again = {}};
    return {.error = wire_error::none, .again = packed(value)};
  }
  static reading read(std::span<const std::byte> source) {
    T value = detail::blank<T>();
    return read_into(value, source);
  }
  static reading read_over(std::span<const std::byte> source, rng numbers) {
    T value = make(numbers);
    return read_into(value, source);
  }
  static bool comes_back(rng numbers) {
    const T value = make(numbers);
    T back = detail::blank<T>();
    return read_into(back, packed(value)).error == wire_error::none && same(value, back);
  }
  static bool is_cleared_by(reader& failed, rng numbers) {
    T value = make(numbers);
    load(failed, value);
    if constexpr (detail::container<T>) {
      return value.empty();
    } else if constexpr (detail::flat<T> && std::is_default_constructible_v<T>) {
      return value == T{};
    } else if constexpr (detail::owning_pointer<T>) {
      return value == nullptr;
    } else {
      return true;
    }
  }

  static constexpr std::string_view name() {
    constexpr std::string_view whole = __PRETTY_FUNCTION__;
    return whole.substr(whole.find("T = ") + 4);
  }
  static constexpr type_case erased() {
    return {.name = name(),
            .keyed = detail::map_like<T>,

            .pack_random = &pack_random,
            .pack_random_growing = &pack_random_growing,
            .pack_blank = &pack_blank,
            .read = &read,
            .read_over = &read_over,
            .comes_back = &comes_back,
            .is_cleared_by = &is_cleared_by};
  }
};

template <class... Ts>
[[nodiscard]] std::span<const type_case> cases_of(type_list<Ts...>) {
  static constexpr std::array<type_case, sizeof...(Ts)> cases{case_of<Ts>::erased()...};
  return cases;
}

}  // namespace nacre::test
