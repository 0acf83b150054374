// SPDX-License-Identifier: Apache-2.0
// nacre::map: values by key over all ranks, each on the rank that the hash of its key chooses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <nacre/containers/keyed.hpp>

namespace nacre {

namespace detail {

template <class K, class V>
struct insert_if_absent : keyed_operation<insert_if_absent<K, V>, K, V, std::tuple<V>> {
  static void apply(context&, flat_table<K, V>& table, std::uint64_t hash, const auto& key, read_form<V> value) {
    const auto [entry, is_new] = table.find_or_add(hash, key);
    if (is_new) entry->value = V(std::move(value));
  }
};
template <class K, class V>
struct insert_or_assign : keyed_operation<insert_or_assign<K, V>, K, V, std::tuple<V>> {
  static void apply(context&, flat_table<K, V>& table, std::uint64_t hash, const auto& key, read_form<V> value) {
    table.find_or_add(hash, key).first->value = V(std::move(value));
  }
};

}  // namespace detail

/// The handle of a map, for handlers: `handle.insert(ctx, key, value)`.
template <class K, class V>
class map_handle : public detail::keyed_handle<K, V> {
 public:
  using detail::keyed_handle<K, V>::keyed_handle;

  /// Inserts a value; without effect when the key has one already. Asynchronous.
  void insert(container_caller caller, detail::key_parameter<K> key, const V& value) const {
    this->template make<detail::insert_if_absent<K, V>>(caller, key, value);
  }
  /// Inserts a value, or replaces the one that the key has. Asynchronous.
  void insert_or_assign(container_caller caller, detail::key_parameter<K> key, const V& value) const {
    this->template make<detail::insert_or_assign<K, V>>(caller, key, value);
  }
};

/// Values by key. K: packable, comparable by ==, hashable (key_hash.hpp); V: packable, default constructible, movable.
/// Made by every main, in the same order; it ends with main's scope, on all ranks together, once nothing is under way.
///
///     nacre::map<std::string, int> ages(rt);
///     ages.insert("Ada", 36);
///     ages.visit("Ada", [](const std::string&, int& age, int years) { age += years; }, 1);
///     rt.wait_quiescence();
///     ages.find("Ada");
template <class K, class V>
class map : public detail::keyed_container<K, V, map_handle<K, V>> {
 public:
  explicit map(runtime& rt, const map_handle<K, V>& saved = {})
      : detail::keyed_container<K, V, map_handle<K, V>>(rt, saved) {}

  /// Asynchronous, as the functions of the same names of the handle.
  void insert(detail::key_parameter<K> key, const V& value) { this->own().insert(this->caller_, key, value); }
  /// Sets the value of a key, whether or not it has one. Asynchronous.
  void insert_or_assign(detail::key_parameter<K> key, const V& value) {
    this->own().insert_or_assign(this->caller_, key, value);
  }

  /// 1 when the key has a value, else 0. Collective.
  [[nodiscard]] std::uint64_t count(detail::key_parameter<K> key) const { return this->find(key) ? 1 : 0; }
  /// The `n` elements with the largest values, the largest first, on every rank. Collective.
  [[nodiscard]] std::vector<std::pair<K, V>> top(std::size_t n) const { return top(n, detail::ranks_before{}); }
  /// The first `n` by `before(a, b)`, of pairs of key and value.
  template <class Before>
  [[nodiscard]] std::vector<std::pair<K, V>> top(std::size_t n, Before previous) const {
    return this->first_of_all(this->first_pairs(n, previous), n, previous);
  }
  /// Calls `f(const K&, V&)`, which may have captures, with each element of this rank. What `f` does to this container
  /// runs after its end. Collective.
  template <class F>
  void for_all(F&& f) {
    this->with_part("for_all",
                    [&](auto& part) { part.each([&](auto& one) { f(std::as_const(one.key), one.value); }); });
  }
  /// In a constant map `f(const K&, const V&)` is called.
  template <class F>
  void for_all(F&& f) const {
    this->with_part("for_all", [&](const auto& part) { part.each([&](const auto& one) { f(one.key, one.value); }); });
  }
  /// All elements on one rank, and none on the others. Collective.
  [[nodiscard]] std::vector<std::pair<K, V>> gather(rank_id target) const {
    return this->gather_all(this->pairs("gather"), target);
  }
  /// Combines all values by `op`, which is associative and commutative, on every rank; V() of an empty map. Collective.
  template <class Op>
  [[nodiscard]] V reduce(Op op) const {
    return this->combine_all(this->of_part("reduce",
                                           [&](const auto& part) {
                                             std::optional<V> sum;
                                             part.each([&](const auto& one) {
                                               sum = sum ? static_cast<V>(op(std::move(*sum), one.value)) : one.value;
                                             });
                                             return sum;
                                           }),
                             op);
  }
};

}  // namespace nacre
