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

/// The container that an adaptor keeps as its protected member.
template <class Adaptor>
struct adapted : Adaptor {
  [[nodiscard]] static typename Adaptor::container_type& container_of(Adaptor& adaptor) noexcept {
    return adaptor.*(&adapted::c);
  }
};

}  // namespace detail

// Archives find these by argument-dependent lookup, as they find those of a program.
template <class Archive, class T, class Container>
void serialize(Archive& ar, std::queue<T, Container>& value) {
  ar(detail::adapted<std::queue<T, Container>>::container_of(value));
}
template <class Archive, class T, class Container>
void serialize(Archive& ar, std::stack<T, Container>& value) {
  ar(detail::adapted<std::stack<T, Container>>::container_of(value));
}
/// Its order has no state, which would not travel.
template <class Archive, class T, class Container, class Compare>
requires std::is_empty_v<Compare>
void serialize(Archive& ar, std::priority_queue<T, Container, Compare>& value) {
  ar(detail::adapted<std::priority_queue<T, Container, Compare>>::container_of(value));
}
/// The value at that moment.
template <class Archive, class T>
void save(Archive& ar, const std::atomic<T>& value) {
  ar(value.load());
}
template <class Archive, class T>
void load(Archive& ar, std::atomic<T>& value) {
  T plain{};
  ar(plain);
  value.store(plain);
}

}  // namespace nacre
