// SPDX-License-Identifier: Apache-2.0
// nacre::disjoint_set: sets that are united item by item, over all ranks.
//
// Union-find after Rem (Dijkstra, A Discipline of Programming, 1976; Patwary, Blair and Manne, SEA 2010, for its
// splicing). Items have a fixed random order. The parent of an item comes behind the item in that order, or is the item
// itself, which is a root then. So there are no cycles, whatever runs at the same time, and no lock: a union is a pair
// (x, y) with x before y that travels. Where x lives,
//
// | parent p of x | what happens to the pair |
// |---|---|
// | x itself | y becomes the parent of x; done |
// | y | done |
// | before y | y becomes the parent of x; the pair (p, y) goes on |
// | behind y | the pair (y, p) goes on |
//
// At each step the pair's first item is later in the order than before, so the journey ends. Items that are only named
// as a parent are made when the parents are compressed, before any question is answered.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <nacre/containers/keyed.hpp>

namespace nacre {

template <class T>
class disjoint_set_handle;

namespace detail {

/// The link from an item to its parent.
template <class T>
struct set_link {
  T parent{};
  bool compressed = false;  ///< `parent` is a root, until the next union
  template <class Archive>
  void serialize(Archive& ar) {
    ar(parent, compressed);
  }
};

/// Whether x comes before y in the order of the items, which is random and equal on all ranks.
template <class X, class Y>
[[nodiscard]] bool comes_before(std::uint64_t hash_x, const X& x, std::uint64_t hash_y, const Y& y) {
  const std::uint64_t rank_x = fold(hash_x, hash_step), rank_y = fold(hash_y, hash_step);
  return rank_x != rank_y ? rank_x < rank_y : x < y;
}

template <class T>
set_link<T>& link_of(flat_table<T, set_link<T>>& table, std::uint64_t hash, const auto& item) {
  const auto [link, is_new] = table.find_or_add(hash, item);
  if (is_new) link->value.parent = link->key;
  return link->value;
}

template <class T>
struct make_item : keyed_operation<make_item<T>, T, set_link<T>> {
  static void apply(context&, flat_table<T, set_link<T>>& table, std::uint64_t hash, const auto& item) {
    static_cast<void>(link_of<T>(table, hash, item));
  }
};
template <class T>
struct unite : keyed_operation<unite<T>, T, set_link<T>, std::tuple<T, disjoint_set_handle<T>>> {
  static void apply(context& ctx, flat_table<T, set_link<T>>& table, std::uint64_t hash, const auto& item,
                    read_form<T> other, const disjoint_set_handle<T>& set) {
    set.step(ctx, table, hash, T(item), hash_of(other), T(other));
  }
};
/// Tells an item that asked for it the parent of its parent.
template <class T>
struct tell_parent : keyed_operation<tell_parent<T>, T, set_link<T>, std::tuple<T, bool>> {
  static void apply(context&, flat_table<T, set_link<T>>& table, std::uint64_t hash, const auto& item,
                    read_form<T> parent, bool root) {
    table.find_or_add(hash, item).first->value = {T(parent), root};
  }
};
template <class T>
struct ask_parent : keyed_operation<ask_parent<T>, T, set_link<T>, std::tuple<T, disjoint_set_handle<T>>> {
  static void apply(context& ctx, flat_table<T, set_link<T>>& table, std::uint64_t hash, const auto& item,
                    read_form<T> child, const disjoint_set_handle<T>& set) {
    const set_link<T>& link = link_of<T>(table, hash, item);
    set.tell(ctx, T(child), link.parent, link.compressed || link.parent == item);
  }
};

/// Looks the representatives of several items up.
template <class T>
std::vector<std::optional<T>> look_up_sets(context& ctx, std::uint32_t container, std::uint32_t stripe,
                                           std::vector<T> items) {
  const stripe_lock held(ctx.core(), container, stripe);
  using part = keyed_part<T, set_link<T>>;
  if (!same_class(held.part().key(), key_of<part>())) throw usage_error("a look-up in a container of another type");
  std::vector<std::optional<T>> values;
  for (const T& item : items) {
    auto* const known = static_cast<part&>(held.part()).tables[stripe].find(hash_of(item), item);
    values.push_back(known == nullptr ? std::nullopt : std::optional<T>(known->value.parent));
  }
  return values;
}

}  // namespace detail

/// The handle of a disjoint_set, for handlers: `handle.union_(ctx, a, b)`.
template <class T>
class disjoint_set_handle : public detail::container_name {
  using link = detail::set_link<T>;

 public:
  disjoint_set_handle() = default;
  explicit disjoint_set_handle(const detail::container_name& name) noexcept : detail::container_name(name) {}

  /// Makes an item that is a set of its own, unless it exists. Asynchronous.
  void insert(container_caller caller, detail::key_parameter<T> item) const {
    make<detail::make_item<T>>(caller, item);
  }
  /// Makes one set of the sets of two items, which need not exist. Asynchronous.
  void union_(container_caller caller, detail::key_parameter<T> a, detail::key_parameter<T> b) const {
    if (a == b) return insert(caller, a);
    const bool ordered = detail::comes_before(detail::hash_of(a), a, detail::hash_of(b), b);
    make<detail::unite<T>>(caller, ordered ? a : b, T(ordered ? b : a), *this);
  }
  /// Another name of union_.
  void unite(container_caller caller, detail::key_parameter<T> a, detail::key_parameter<T> b) const {
    union_(caller, a, b);
  }

 private:
  template <class>
  friend class disjoint_set;
  friend detail::unite<T>;
  friend detail::ask_parent<T>;

  template <class Op, class... Args>
  void make(const container_caller& caller, detail::key_parameter<T> item, const Args&... args) const {
    const std::uint64_t hash = detail::hash_of(item);
    Op::make(caller, number(), target_of(caller, hash), hash, item, args...);
  }
  void tell(const container_caller& caller, const T& item, const T& parent, bool root) const {
    make<detail::tell_parent<T>>(caller, item, parent, root);
  }
  /// Follows the pair (x, y) as long as its first item is in this table; see the head of this file.
  void step(context& ctx, detail::flat_table<T, link>& table, std::uint64_t hash_x, T x, std::uint64_t hash_y,
            T y) const {
    const container_caller caller(ctx);
    const std::uint32_t target = target_of(caller, hash_x);
    while (true) {
      link& subject = detail::link_of<T>(table, hash_x, x);
      if (subject.parent == y) return;
      T p = subject.parent;
      if (p == x) {
        subject = {std::move(y), false};
        table.is_changed = true;
        return;
      }
      const std::uint64_t hash_p = detail::hash_of(p);
      if (detail::comes_before(hash_p, p, hash_y, y)) {
        subject = {y, false};
        table.is_changed = true;
        x = std::move(p);
        hash_x = hash_p;
      } else {
        x = std::exchange(y, std::move(p));
        hash_x = std::exchange(hash_y, hash_p);
      }
      if (target_of(caller, hash_x) != target) break;
    }
    detail::unite<T>::make(caller, number(), target_of(caller, hash_x), hash_x, x, y, *this);
  }
};

/// Items in sets. T: packable, hashable, comparable by == and <. How it is made and ends, and what collective means, is
/// as for nacre::map.
///
///     nacre::disjoint_set<int> components(rt);
///     components.union_(1, 2);
///     rt.wait_quiescence();
///     components.num_sets();
template <class T>
class disjoint_set : public detail::container_base<detail::keyed_part<T, detail::set_link<T>>, disjoint_set_handle<T>> {
  using base = detail::container_base<detail::keyed_part<T, detail::set_link<T>>, disjoint_set_handle<T>>;

 public:
  using value_type = T;
  explicit disjoint_set(runtime& rt, const disjoint_set_handle<T>& saved = {}) : base(rt, saved) {}

  /// Asynchronous, as the functions of the same names of the handle.
  void insert(detail::key_parameter<T> item) { own().insert(this->caller_, item); }
  /// Joins the sets of two items, which become items if they are none yet. Asynchronous.
  void union_(detail::key_parameter<T> a, detail::key_parameter<T> b) { own().union_(this->caller_, a, b); }
  /// Another name of union_.
  void unite(detail::key_parameter<T> a, detail::key_parameter<T> b) { union_(a, b); }
  /// The name that users of YGM know.
  void async_union(detail::key_parameter<T> a, detail::key_parameter<T> b) { union_(a, b); }

  /// The number of items. Collective, as all that follow; each of them but clear and swap waits for quiescence.
  [[nodiscard]] std::uint64_t size() {
    compress();
    return this->sum_of_all(this->of_part("size", [](const auto& part) { return part.size(); }));
  }
  /// The number of sets.
  [[nodiscard]] std::uint64_t num_sets() {
    compress();
    return this->sum_of_all(this->of_part("num_sets", [](const auto& part) {
      std::uint64_t roots = 0;
      part.each([&](const auto& one) { roots += one.value.parent == one.key ? 1U : 0U; });
      return roots;
    }));
  }
  /// The representative of the set of an item, one of its items; nothing when there is no such item. Each rank may ask
  /// for an item of its own.
  [[nodiscard]] std::optional<T> find(detail::key_parameter<T> item) {
    const auto match = all_find({T(item)});
    return match.empty() ? std::nullopt : std::optional<T>(match.begin()->second);
  }
  /// 1 when there is such an item, else 0. Each rank may ask for an item of its own.
  [[nodiscard]] std::uint64_t count(detail::key_parameter<T> item) { return find(item) ? 1 : 0; }
  /// Returns the representatives of those of `items` that exist. Each rank may ask for other items.
  [[nodiscard]] std::map<T, T> all_find(const std::vector<T>& items) {
    compress();
    std::map<T, T> all;
    std::exception_ptr problem;  // of the program's own code, such as a comparison: the other ranks wait all the same
    try {
      look_up(items, all);
    } catch (...) {
      problem = std::current_exception();
    }
    this->rt_->barrier();
    if (problem) std::rethrow_exception(problem);
    return all;
  }
  /// Calls `f(const T& item, const T& representative)`, which may have captures, with each item of this rank.
  template <class F>
  void for_all(F&& f) {
    compress();
    this->with_part("for_all", [&](auto& part) {
      part.each([&](auto& one) { f(std::as_const(one.key), std::as_const(one.value.parent)); });
    });
  }
  /// All items with their representatives on one rank, and none on the others.
  [[nodiscard]] std::vector<std::pair<T, T>> gather(rank_id target) {
    compress();
    return this->gather_all(
        this->of_part("gather",
                      [](const auto& part) {
                        std::vector<std::pair<T, T>> all;
                        part.each([&](const auto& one) { all.emplace_back(one.key, one.value.parent); });
                        return all;
                      }),
        target);
  }
  /// Ends all items.
  void clear() {
    this->change_part("clear", [](auto& part) {
      for (auto& each : part.tables) each.clear();
    });
  }
  /// Exchanges the items of two containers; handles keep naming the container that they come from.
  void swap(disjoint_set& other) {
    other.alive();
    this->change_part("swap", [&](auto& part) {
      const detail::container_hold held(*this->caller_.core, *this->caller_.thread, *other.part_);
      std::swap(part.tables, other.part_->tables);
    });
  }
  /// Makes every parent a root, by doubling: items ask their parent for its parent, until that is a root. Those of a
  /// rank that have one parent ask once. The other collectives call it.
  void compress() {
    runtime& rt = this->enter("compress");
    rt.wait_quiescence();
    if (!has_new_links()) return;
    forget_roots();
    try {
      for (askers of_parents; ask_for_parents(of_parents) != 0; of_parents.clear()) {
        rt.wait_quiescence();
        share_answers(of_parents);
      }
    } catch (...) {  // of the program's own code, such as a comparison: the next question begins anew
      const detail::container_hold held(*this->caller_.core, *this->caller_.thread, *this->part_);
      for (auto& each : this->part_->tables) each.is_changed = true;
      throw;
    }
  }

 private:
  [[nodiscard]] const disjoint_set_handle<T>& own() const {
    this->alive();
    return this->handle_;
  }
  /// Adds to `all` the representatives of those of `items` that exist, by asking the ranks where they live.
  void look_up(const std::vector<T>& items, std::map<T, T>& all) {
    std::map<std::uint32_t, std::vector<T>> asked;
    for (const T& item : items) asked[own().target_of(this->caller_, detail::hash_of(item))].push_back(item);
    std::vector<std::pair<const std::vector<T>*, future<std::vector<std::optional<T>>>>> answers;
    const std::uint32_t stripes = this->caller_.buffers->stripes();
    for (const auto& [target, batch] : asked) {
      answers.emplace_back(&batch, this->rt_->template call<&detail::look_up_sets<T>>(
                                       rank_id(target / stripes), this->number_, target % stripes, batch));
    }
    for (auto& [batch, answer] : answers) {
      const std::vector<std::optional<T>> values = answer.get();
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (values[i]) all.emplace((*batch)[i], *values[i]);
      }
    }
  }
  /// Whether a rank has links to other parents than when it last looked for roots.
  [[nodiscard]] bool has_new_links() const {
    return this->sum_of_all(this->of_part("compress", [](const auto& part) {
      return std::uint64_t{std::ranges::any_of(part.tables, [](const auto& each) { return each.is_changed; })};
    })) != 0;
  }
  void forget_roots() {
    this->change_part("compress", [](auto& part) {
      for (auto& each : part.tables) each.is_changed = false;
      part.each([](auto& one) { one.value.compressed = false; });
    });
  }
  /// For each parent, the one item of this rank that has asked it; other items of this rank with that parent share the
  /// answer.
  using askers = detail::flat_table<T, T>;
  /// Asks for all items that do not know their root yet; returns how many these are, over all ranks.
  [[nodiscard]] std::uint64_t ask_for_parents(askers& of_parents) {
    std::uint64_t asking = 0;
    this->with_part("compress", [&](auto& part) {
      part.each([&](const auto& one) {
        if (one.value.compressed || one.value.parent == one.key) return;
        ++asking;
        const auto [asker, is_first] = of_parents.find_or_add(detail::hash_of(one.value.parent), one.value.parent);
        if (!is_first) return;
        asker->value = one.key;
        own().template make<detail::ask_parent<T>>(this->caller_, one.value.parent, one.key, own());
      });
    });
    return this->sum_of_all(asking);
  }
  /// Gives an item's answer to the other items of this rank that have the same parent and did not ask.
  void share_answers(askers& of_parents) {
    this->change_part("compress", [&](auto& part) {
      const auto link_of_asker = [&](const T& item) -> const detail::set_link<T>& {
        const std::uint64_t hash = detail::hash_of(item);
        return part.tables[own().target_of(this->caller_, hash) % part.tables.size()].find(hash, item)->value;
      };
      part.each([&](auto& one) {
        if (one.value.compressed || one.value.parent == one.key) return;
        auto* const asker = of_parents.find(detail::hash_of(one.value.parent), one.value.parent);
        if (asker != nullptr && !(asker->value == one.key)) one.value = link_of_asker(asker->value);
      });
    });
  }
};

}  // namespace nacre
