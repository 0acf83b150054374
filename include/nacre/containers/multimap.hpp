// SPDX-License-Identifier: Apache-2.0
// nacre::multimap: any number of values for each key, on the rank that the hash of the key chooses.
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
struct insert_value : keyed_operation<insert_value<K, V>, K, std::vector<V>, std::tuple<V>> {
  static void apply(context&, flat_table<K, std::vector<V>>& table, std::uint64_t hash, const auto& key,
                    read_form<V> value) {
    table.find_or_add(hash, key).first->value.push_back(V(std::move(value)));
  }
};

/// Calls F with each value of a key.
template <class K, class V, class F, absent How, class Arguments>
struct visit_values;
template <class K, class V, class F, absent How, class... A>
struct visit_values<K, V, F, How, std::tuple<A...>>
    : keyed_operation<visit_values<K, V, F, How, std::tuple<A...>>, K, std::vector<V>, std::tuple<A...>> {
  static void apply(context& ctx, flat_table<K, std::vector<V>>& table, std::uint64_t hash, const auto& key,
                    read_form<A>... args) {
    auto* match = table.find(hash, key);
    if (match == nullptr) {
      if (How == absent::skip) return;
      match = table.find_or_add(hash, key).first;
      match->value.emplace_back();
    }
    for (auto&& each : match->value) call_visitor<F>(ctx, std::as_const(match->key), each, A(args)...);
  }
};

}  // namespace detail

/// The handle of a multimap, for handlers.
template <class K, class V>
class multimap_handle : public detail::keyed_handle<K, std::vector<V>> {
 public:
  using detail::keyed_handle<K, std::vector<V>>::keyed_handle;

  /// Adds a value to those of a key. Asynchronous, as all that follow. `erase` ends all values of a key.
  void insert(container_caller caller, detail::key_parameter<K> key, const V& value) const {
    this->template make<detail::insert_value<K, V>>(caller, key, value);
  }
  /// Runs a lambda without captures with each value of a key; see keyed_handle::visit. A key without values gets a
  /// default one.
  template <class F, class... Args>
  void visit(container_caller caller, detail::key_parameter<K> key, F, Args&&... args) const {
    visit_each<F, detail::absent::make>(caller, key, std::forward<Args>(args)...);
  }
  /// As visit, but does nothing when the key has no values.
  template <class F, class... Args>
  void visit_if_present(container_caller caller, detail::key_parameter<K> key, F, Args&&... args) const {
    visit_each<F, detail::absent::skip>(caller, key, std::forward<Args>(args)...);
  }

 private:
  template <class F, detail::absent How, class... Args>
  void visit_each(const container_caller& caller, detail::key_parameter<K> key, Args&&... args) const {
    if constexpr (detail::can_visit<F>()) {
      using arguments = typename detail::visit_arguments<2, F, Args...>::type;
      this->template make<detail::visit_values<K, V, F, How, arguments>>(caller, key, std::forward<Args>(args)...);
    }
  }
};

/// Any number of values for each key, in the order in which they came. The types, and how it is made and ends, are as
/// for nacre::map; what the functions of its base do is said there.
template <class K, class V>
class multimap : public detail::keyed_container<K, std::vector<V>, multimap_handle<K, V>> {
  using base = detail::keyed_container<K, std::vector<V>, multimap_handle<K, V>>;

 public:
  using mapped_type = V;
  explicit multimap(runtime& rt, const multimap_handle<K, V>& saved = {}) : base(rt, saved) {}

  /// Asynchronous, as the function of the handle.
  void insert(detail::key_parameter<K> key, const V& value) { this->own().insert(this->caller_, key, value); }

  /// The number of values of all keys, over all ranks. Collective, as all that follow.
  [[nodiscard]] std::uint64_t size() const { return this->sum_of_all(local_size()); }
  /// The number of values on this rank.
  [[nodiscard]] std::uint64_t local_size() const {
    return this->of_part("size", [](const auto& part) {
      std::uint64_t sum = 0;
      part.each([&](const auto& one) { sum += one.value.size(); });
      return sum;
    });
  }
  /// The number of values of a key.
  [[nodiscard]] std::uint64_t count(detail::key_parameter<K> key) const {
    const auto values = this->find(key);
    return values ? values->size() : 0;
  }
  /// The `n` pairs of key and value with the largest values, the largest first, on every rank.
  [[nodiscard]] std::vector<std::pair<K, V>> top(std::size_t n) const {
    auto own_first = this->of_part("top", [&](const auto& part) {
      detail::first_values<std::pair<K, V>, detail::ranks_before> first(n, {});
      part.each([&](const auto& one) {
        for (const V& each : one.value) first.offer(std::pair<const K&, const V&>(one.key, each));
      });
      return first.take();
    });
    return this->first_of_all(std::move(own_first), n, detail::ranks_before{});
  }
  /// Calls `f(const K&, V&)`, which may have captures, with each value of this rank.
  template <class F>
  void for_all(F&& f) {
    this->with_part("for_all", [&](auto& part) {
      part.each([&](auto& one) {
        for (auto&& each : one.value) f(std::as_const(one.key), each);
      });
    });
  }
  /// In a constant multimap `f(const K&, const V&)` is called.
  template <class F>
  void for_all(F&& f) const {
    this->with_part("for_all", [&](const auto& part) {
      part.each([&](const auto& one) {
        for (const V& each : one.value) f(one.key, each);
      });
    });
  }
  /// All pairs of key and value on one rank, and none on the others.
  [[nodiscard]] std::vector<std::pair<K, V>> gather(rank_id target) const {
    return this->gather_all(values("gather"), target);
  }
  /// Combines all values by `op`, which is associative and commutative, on every rank; V() when there are none.
  template <class Op>
  [[nodiscard]] V reduce(Op op) const {
    auto own_sum = this->of_part("reduce", [&](const auto& part) {
      std::optional<V> sum;
      part.each([&](const auto& one) {
        for (const V& each : one.value) sum = sum ? static_cast<V>(op(std::move(*sum), each)) : each;
      });
      return sum;
    });
    return this->combine_all(std::move(own_sum), op);
  }

 private:
  [[nodiscard]] std::vector<std::pair<K, V>> values(const char* name) const {
    return this->of_part(name, [](const auto& part) {
      std::vector<std::pair<K, V>> all;
      part.each([&](const auto& one) {
        for (const V& each : one.value) all.emplace_back(one.key, each);
      });
      return all;
    });
  }
};

}  // namespace nacre
