// SPDX-License-Identifier: Apache-2.0
// Std types that are no containers, and have no other way to their content: adaptors and atomics.
#pragma once

#include <atomic>
#include <queue>
#include <stack>
#include <type_traits>

#include <nacre/archive/custom.hpp>

namespace nacre {

namespace detail {

template <class T>
inline constexpr bool is_adaptor = false;
template <class T, class Container>
inline constexpr bool is_adaptor<std::queue<T, Container>> = true;
template <class T, class Container>
inline constexpr bool is_adaptor<std::stack<T, Container>> = true;
/// A priority_queue can be packed only if its comparator has no state: the state would not travel.
template <class T, class Container, class Compare>
inline constexpr bool is_adaptor<std::priority_queue<T, Container, Compare>> = std::is_empty_v<Compare>;
template <class T>
concept adaptor = is_adaptor<T>;

template <class T>
inline constexpr bool is_atomic = false;
template <class T>
inline constexpr bool is_atomic<std::atomic<T>> = true;
template <class T>
concept atomic_value = is_atomic<T>;

/// The container that an adaptor keeps as its protected member.
template <class Adaptor>
struct adapted : Adaptor {
  [[nodiscard]] static typename Adaptor::container_type& container_of(Adaptor& adaptor) noexcept {
    return adaptor.*(&adapted::c);
  }
};

}  // namespace detail

// Archives find these by argument-dependent lookup, as they find those of a program. A class that is derived from one
// of these types is none of them: its own members would be lost.
template <class Archive, detail::adaptor Adaptor>
void serialize(Archive& ar, Adaptor& value) {
  ar(detail::adapted<Adaptor>::container_of(value));
}
/// Packs the value that the atomic has at that moment.
template <class Archive, detail::atomic_value Atomic>
void save(Archive& ar, const Atomic& value) {
  ar(value.load());
}
template <class Archive, detail::atomic_value Atomic>
void load(Archive& ar, Atomic& value) {
  typename Atomic::value_type plain{};
  ar(plain);
  value.store(plain);
}

}  // namespace nacre
