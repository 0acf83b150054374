// SPDX-License-Identifier: Apache-2.0
// What containers with keys share: elements in one table for each stripe, look-ups, and collectives over all elements.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <nacre/containers/container.hpp>
#include <nacre/containers/table.hpp>
#include <nacre/containers/visit.hpp>

namespace nacre::detail {

/// A key as a parameter: text needs no copy.
template <class K>
using key_parameter = std::conditional_t<std::is_same_v<K, std::string>, std::string_view, const K&>;

template <class K, class V>
class keyed_part final : public container_part {
  static_assert(!holds_view<K> && !holds_view<V>,
                "nacre: a container keeps its elements, so that they own what they have: write std::string or "
                "std::vector instead of a view");

 public:
  using table = flat_table<K, V>;
  explicit keyed_part(std::uint32_t stripes)
      : container_part(key_of<keyed_part>(), operation_name<keyed_part>(), stripes), tables(stripes) {}
  [[nodiscard]] std::size_t size() const noexcept {
    std::size_t sum = 0;
    for (const table& each : tables) sum += each.size();
    return sum;
  }
  /// Calls `body` with each element.
  template <class Body>
  void each(Body&& body) {
    for (table& key_table : tables) {
      for (auto& one : key_table.elements()) body(one);
    }
  }
  template <class Body>
  void each(Body&& body) const {
    for (const table& key_table : tables) {
      for (const auto& one : key_table.elements()) body(one);
    }
  }

  [[nodiscard]] bool may_save() const noexcept override { return serializable<K> && serializable<V>; }
  void save(writer& out) const override {
    if constexpr (serializable<K> && serializable<V>) {
      each([&](const auto& one) { out(one.key, one.value); });
    }
  }
  [[nodiscard]] bool load(reader& in, std::uint32_t ranks) override {
    return for_each_saved(in, [&](std::uint64_t hash, const K& key, V& value) {
      const std::uint32_t stripe = target_of(hash, ranks * stripes()) % stripes();
      tables[stripe].find_or_add(hash, key).first->value = std::move(value);
    });
  }
  [[nodiscard]] bool deal(reader& in, std::span<writer> by_rank,
                          const std::function<void(std::uint32_t rank)>& written) override {
    const auto ranks = static_cast<std::uint32_t>(by_rank.size());
    return for_each_saved(in, [&](std::uint64_t hash, const K& key, V& value) {
      const std::uint32_t rank = target_of(hash, ranks * stripes()) / stripes();
      if constexpr (serializable<K> && serializable<V>) by_rank[rank](key, static_cast<const V&>(value));
      written(rank);
    });
  }

  std::vector<table> tables;  // by stripe

 private:
  /// Calls take(hash, key, value) for each element that `save` has written. False: the bytes are none.
  template <class Take>
  [[nodiscard]] bool for_each_saved(reader& in, Take take) {
    if constexpr (serializable<K> && serializable<V>) {
      while (in.ok() && in.remaining() != 0) {
        K key = blank<K>();
        V value = blank<V>();
        in(key, value);
        if (in.ok()) take(hash_of(key), key, value);
      }
    }
    return in.ok();
  }
};

/// An argument as it is packed: itself if it is of that type already.
template <class A, class Argument>
using converted_form = std::conditional_t<std::is_same_v<A, std::remove_cvref_t<Argument>>, const A&, A>;

/// The base of an operation on a key. `Self::apply(context&, table&, hash, key, args...)` runs it.
template <class Self, class K, class V, class Arguments = std::tuple<>>
struct keyed_operation;
template <class Self, class K, class V, class... A>
struct keyed_operation<Self, K, V, std::tuple<A...>> {
  using part = keyed_part<K, V>;
  using table = typename part::table;
  using values = std::conditional_t<carries_hash<K>, std::tuple<std::uint64_t, K, A...>, std::tuple<K, A...>>;

  static void run(context& ctx, part& part, std::uint32_t stripe, std::uint64_t hash, read_form<K> key,
                  read_form<A>... args) requires carries_hash<K> {
    Self::apply(ctx, part.tables[stripe], hash, key, std::move(args)...);
  }
  static void run(context& ctx, part& part, std::uint32_t stripe, K key,
                  read_form<A>... args) requires(!carries_hash<K>) {
    Self::apply(ctx, part.tables[stripe], hash_of(key), key, std::move(args)...);
  }
  /// Bring the memory of an operation into the cache while those before it run: first all places, then all elements.
  static void prefetch_place(const part& part, std::uint32_t stripe, const auto& first, const auto&...) {
    part.tables[stripe].prefetch_place(hash_read(first));
  }
  static void prefetch_element(const part& part, std::uint32_t stripe, const auto& first, const auto&...) {
    part.tables[stripe].prefetch_element(hash_read(first));
  }
  [[nodiscard]] static std::uint64_t hash_read(const auto& first) {
    if constexpr (carries_hash<K>) {
      return first;
    } else {
      return hash_of(first);
    }
  }
  /// Packs the operation, its arguments converted to A.
  template <class... Args>
  static void make(const operation_place& place, std::uint32_t container, std::uint32_t target, std::uint64_t hash,
                   key_parameter<K> key, Args&&... args) {
    static_assert(sizeof...(Args) == sizeof...(A),
                  "the function of a visit takes another number of arguments behind the key and the value");
    if constexpr (sizeof...(Args) == sizeof...(A)) {
      const std::tuple<converted_form<A, Args>...> converted(std::forward<Args>(args)...);
      std::apply(
          [&](const A&... each) {
            if constexpr (carries_hash<K>) {
              append<Self>(place, container, target, hash, key, each...);
            } else {
              append<Self>(place, container, target, key, each...);
            }
          },
          converted);
    }
  }
};

template <class K, class V>
struct erase_key : keyed_operation<erase_key<K, V>, K, V> {
  static void apply(context&, flat_table<K, V>& key_table, std::uint64_t hash, const auto& key) {
    key_table.erase(hash, key);
  }
};

enum class absent : std::uint8_t { make, skip };

/// Calls the visiting function F with the value of a key.
template <class K, class V, class F, absent How, class Arguments>
struct visit_key;
template <class K, class V, class F, absent How, class... A>
struct visit_key<K, V, F, How, std::tuple<A...>>
    : keyed_operation<visit_key<K, V, F, How, std::tuple<A...>>, K, V, std::tuple<A...>> {
  static void apply(context& ctx, flat_table<K, V>& key_table, std::uint64_t hash, const auto& key,
                    read_form<A>... args) {
    auto* const match = How == absent::make ? key_table.find_or_add(hash, key).first : key_table.find(hash, key);
    if (match != nullptr) call_visitor<F>(ctx, std::as_const(match->key), match->value, A(std::move(args))...);
  }
};

/// Looks a key up for a main of another rank.
template <class K, class V>
std::optional<V> look_up(context& ctx, std::uint32_t container, std::uint32_t stripe, std::uint64_t hash, K key) {
  const stripe_lock held(ctx.core(), container, stripe);
  if (!same_class(held.part().key(), key_of<keyed_part<K, V>>()))
    throw usage_error("a look-up in a container of another type");
  auto* const match = static_cast<keyed_part<K, V>&>(held.part()).tables[stripe].find(hash, key);
  return match == nullptr ? std::nullopt : std::optional<V>(match->value);
}

/// Orders elements by value, the largest first, and by key where values are equal.
struct ranks_before {
  [[nodiscard]] bool operator()(const auto& a, const auto& b) const {
    if (b.second < a.second) return true;
    if (a.second < b.second) return false;
    if constexpr (requires { a.first < b.first; }) {
      return a.first < b.first;
    } else {
      return false;
    }
  }
};

/// The operations that handles of containers with keys share. A handle is trivially copyable and may be sent around.
template <class K, class V>
class keyed_handle : public container_name {
 public:
  keyed_handle() = default;
  explicit keyed_handle(const container_name& name) noexcept : container_name(name) {}

  /// Erases the element of a key. Asynchronous.
  void erase(container_caller caller, key_parameter<K> key) const { make<erase_key<K, V>>(caller, key); }
  /// Runs a lambda without captures on the rank of a key, with the key, the value and arguments:
  ///
  ///     handle.visit(ctx, key, [](const K& key, V& value, int n) { value += n; }, 5);
  ///
  /// The lambda may take a nacre::context& first. It must not wait; operations that it makes run later. A default value
  /// is made when the key is absent. Asynchronous; operations of one thread on one key run in the order in which they
  /// were made. An exception of the lambda ends the job with a line that names it. Throws usage_error when the
  /// container has ended, and what packing the arguments throws; then nothing has been done.
  template <class F, class... Args>
  void visit(container_caller caller, key_parameter<K> key, F, Args&&... args) const {
    visit_as<F, absent::make>(caller, key, std::forward<Args>(args)...);
  }
  /// As visit, but does nothing when the key is absent.
  template <class F, class... Args>
  void visit_if_present(container_caller caller, key_parameter<K> key, F, Args&&... args) const {
    visit_as<F, absent::skip>(caller, key, std::forward<Args>(args)...);
  }

 protected:
  template <class Op, class... Args>
  void make(const container_caller& caller, key_parameter<K> key, Args&&... args) const {
    const std::uint64_t hash = hash_of(key);
    Op::make(caller, number(), target_of(caller, hash), hash, key, std::forward<Args>(args)...);
  }
  template <class F, absent How, class... Args>
  void visit_as(const container_caller& caller, key_parameter<K> key, Args&&... args) const {
    if constexpr (can_visit<F>()) {
      make<visit_key<K, V, F, How, typename visit_arguments<2, F, Args...>::type>>(caller, key,
                                                                                   std::forward<Args>(args)...);
    }
  }
  template <class Part, class Handle>
  friend class container_base;
  template <class, class, class>
  friend class keyed_container;
};

/// The collectives that containers with keys share, and the asynchronous operations for main. Every main calls a
/// collective, with equal arguments, after rt.wait_quiescence(), since operations under way may or may not be seen. A
/// collective in a handler throws usage_error.
template <class K, class V, class Handle>
class keyed_container : public container_base<keyed_part<K, V>, Handle> {
  using base = container_base<keyed_part<K, V>, Handle>;

 public:
  using key_type = K;
  using mapped_type = V;

  /// Asynchronous, as the functions of the same names of the handle.
  void erase(key_parameter<K> key) { own().erase(this->caller_, key); }
  template <class F, class... Args>
  void visit(key_parameter<K> key, F f, Args&&... args) {
    own().visit(this->caller_, key, f, std::forward<Args>(args)...);
  }
  template <class F, class... Args>
  void visit_if_present(key_parameter<K> key, F f, Args&&... args) {
    own().visit_if_present(this->caller_, key, f, std::forward<Args>(args)...);
  }

  /// The number of keys, over all ranks. Collective.
  [[nodiscard]] std::uint64_t size() const {
    return this->sum_of_all(this->of_part("size", [](const auto& part) { return part.size(); }));
  }
  /// The number of keys on this rank.
  [[nodiscard]] std::uint64_t local_size() const {
    return this->of_part("local_size", [](const auto& part) { return part.size(); });
  }
  /// The value of a key, a copy. Collective; each rank may ask for a key of its own.
  [[nodiscard]] std::optional<V> find(key_parameter<K> key) const {
    runtime& rt = this->enter("find");
    const std::uint64_t hash = hash_of(key);
    const std::uint32_t target = own().target_of(this->caller_, hash), stripes = this->caller_.buffers->stripes();
    rt.barrier();  // no rank is in a for_all any more, whose function may change the value
    std::optional<V> value;
    std::exception_ptr problem;  // of the key's comparison, where the key is: the other ranks wait here all the same
    try {
      auto match =
          rt.template call<&look_up<K, V>>(rank_id(target / stripes), this->number_, target % stripes, hash, K(key));
      value = match.get();
    } catch (...) {
      problem = std::current_exception();
    }
    rt.barrier();
    if (problem) std::rethrow_exception(problem);
    return value;
  }
  /// Ends all elements. Collective.
  void clear() {
    this->change_part("clear", [](auto& part) {
      for (auto& each : part.tables) each.clear();
    });
  }
  /// Exchanges the elements of two containers; handles keep naming the container that they come from. Collective.
  void swap(keyed_container& other) {
    other.alive();
    this->change_part("swap", [&](auto& part) {
      const container_hold held(*this->caller_.core, *this->caller_.thread, *other.part_);
      std::swap(part.tables, other.part_->tables);
    });
  }

 protected:
  using base::base;
  [[nodiscard]] const Handle& own() const {
    this->alive();
    return this->handle_;
  }
  /// The first `count` elements of this rank by `previous`.
  template <class Before>
  [[nodiscard]] std::vector<std::pair<K, V>> first_pairs(std::size_t count, Before previous) const {
    using references = std::pair<const K&, const V&>;
    using subject = std::conditional_t<std::is_same_v<Before, ranks_before>, references, std::pair<K, V>>;
    return this->of_part("top", [&](const auto& part) {
      first_values<std::pair<K, V>, Before> first(count, previous);
      part.each([&](const auto& one) { first.offer(subject(one.key, one.value)); });
      return first.take();
    });
  }
  [[nodiscard]] std::vector<std::pair<K, V>> pairs(const char* name) const {
    return this->of_part(name, [](const auto& part) {
      std::vector<std::pair<K, V>> all;
      all.reserve(part.size());
      part.each([&](const auto& one) { all.emplace_back(one.key, one.value); });
      return all;
    });
  }
};

}  // namespace nacre::detail
