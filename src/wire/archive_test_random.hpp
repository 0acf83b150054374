// SPDX-License-Identifier: Apache-2.0
// Random values of every packable type, for round trips and for seeds of the fuzzers.
#pragma once

#include <chrono>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <nacre/rng.hpp>

#include "wire/archive_test_types.hpp"

namespace nacre::test {

/// An archive that makes up the values that it reads, so that a `serialize` fills its members with random data.
class inventor {
 public:
  using is_saving = std::false_type;
  using is_loading = std::true_type;

  explicit inventor(rng numbers) : rng_(numbers) {}

  template <class... Ts>
  inventor& operator()(Ts&... values) {
    (invent(values), ...);
    return *this;
  }
  [[nodiscard]] static bool ok() { return true; }
  static void fail() {}

  template <class T>
  [[nodiscard]] T make() {
    T value = detail::blank<T>();
    invent(value);
    return value;
  }

 private:
  /// A random length: mostly up to 5, seldom up to 40, and 0 in deep nesting, so that recursive values end.
  std::size_t length() {
    const std::size_t longest = depth_ > 4 ? 0 : rng_.below(8) == 0 ? 40 : 5;
    return rng_.below(longest + 1);
  }

  template <class T>
  void invent(T& value);
  template <class T>
  void invent_elements(T& value);
  template <class T>
  void invent_number(T& value);

  rng rng_;
  int depth_ = 0;
};

template <class T>
void inventor::invent_number(T& value) {
  if constexpr (std::is_floating_point_v<T>) {
    value = static_cast<T>(rng_.uniform() * 1e3 - 500);
  } else {
    const std::uint64_t bits = rng_.next() >> rng_.below(64);
    value = detail::bitwise_value<T>(reinterpret_cast<const std::byte*>(&bits));
  }
}

template <class T>
void inventor::invent_elements(T& value) {
  using element = typename T::value_type;
  value.clear();
  for (std::size_t rest = length(); rest > 0; --rest) {
    if constexpr (detail::map_like<T>) {
      auto key = make<typename T::key_type>();
      value.emplace(std::move(key), make<typename T::mapped_type>());
    } else if constexpr (detail::set_like<T>) {
      value.insert(make<element>());
    } else if constexpr (detail::forward_list_like<T>) {
      value.push_front(make<element>());
    } else {
      value.push_back(make<element>());
    }
  }
}

template <class T>
void inventor::invent(T& value) {
  ++depth_;
  if constexpr (std::same_as<T, bool>) {
    value = rng_.below(2) == 1;
  } else if constexpr (std::same_as<T, colour>) {
    value = static_cast<colour>(rng_.below(3));
  } else if constexpr (std::same_as<T, percentage>) {
    value.value = static_cast<int>(rng_.below(101));
  } else if constexpr (std::same_as<T, particle>) {
    (*this)(value.x, value.mass, value.charge);
  } else if constexpr (std::same_as<T, std::complex<float>>) {
    value = {make<float>(), make<float>()};
  } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T> || std::same_as<T, std::chrono::nanoseconds>) {
    invent_number(value);
  } else if constexpr (detail::member_serialize<T, inventor>) {
    archive_access::serialize(*this, value);
  } else if constexpr (detail::free_serialize<T, inventor>) {
    serialize(*this, value);
  } else if constexpr (std::same_as<T, shout>) {
    invent(value.text);
  } else if constexpr (detail::bit_array<T>) {
    for (std::size_t i = 0; i < value.size(); ++i) value.set(i, rng_.below(2) == 1);
  } else if constexpr (detail::fixed_array<T>) {
    for (auto& element : value) invent(element);
  } else if constexpr (detail::tuple_like<T>) {
    std::apply([&](auto&... element) { (invent(element), ...); }, value);
  } else if constexpr (detail::is_a<T, std::optional>) {
    if (length() != 0) value.emplace(make<typename T::value_type>());
  } else if constexpr (detail::owning_pointer<T>) {
    if (length() != 0) value = std::make_unique<typename T::element_type>(make<typename T::element_type>());
  } else if constexpr (detail::is_a<T, std::variant>) {
    const std::size_t index = rng_.below(std::variant_size_v<T>);
    const auto choose = [&]<std::size_t... I>(std::index_sequence<I...>) {
      ((index == I ? void(value.template emplace<I>(make<std::variant_alternative_t<I, T>>())) : void()), ...);
    };
    choose(std::make_index_sequence<std::variant_size_v<T>>{});
  } else if constexpr (detail::container<T>) {
    invent_elements(value);
  } else {
    static_assert(detail::nothing<T>, "say how to make up a value of this type");
  }
  --depth_;
}

/// Equality that looks through owning pointers.
template <class T>
[[nodiscard]] bool same(const T& a, const T& b) {
  if constexpr (detail::owning_pointer<T>) {
    return (a == nullptr) == (b == nullptr) && (a == nullptr || same(*a, *b));
  } else if constexpr (detail::is_a<T, std::variant>) {
    if (a.index() != b.index()) return false;
    return std::visit(
        [&b](const auto& left) { return same(left, *std::get_if<std::remove_cvref_t<decltype(left)>>(&b)); }, a);
  } else if constexpr (detail::is_a<T, std::vector> && !detail::bool_vector<T>) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (!same(a[i], b[i])) return false;
    }
    return true;
  } else {
    return a == b;
  }
}

}  // namespace nacre::test
