// SPDX-License-Identifier: Apache-2.0
// nacre::counting_set: how often each key was inserted. Counts of repeated keys are added up before they leave.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <nacre/containers/pending_counts.hpp>

namespace nacre {

/// The handle of a counting_set, for handlers: `handle.insert(ctx, key)`.
template <class K>
class counting_set_handle : public detail::keyed_handle<K, std::uint64_t> {
 public:
  using detail::keyed_handle<K, std::uint64_t>::keyed_handle;

  /// Counts a key once. Asynchronous.
  void insert(container_caller caller, detail::key_parameter<K> key) const {
    const std::uint64_t hash = detail::hash_of(key);
    if constexpr (detail::packs_tight<K>) {
      using kept_key = detail::counted_key<K>;
      detail::pending_counts<K>& counts = pending(caller);
      if (!kept_key::is_short(key)) {
        if (counts.count(hash, key)) return;
        detail::throttle(*caller.core, *caller.thread);
        return insert_slowly(caller, counts, hash, key);
      }
      // An exception leaves all as it is.
      auto& longest = counts.longest_waiting();
      if (!longest.any) {
        caller.buffers->note_pending(this->number());
      } else if (!counts.count(longest.hash, longest.key)) {
        count_slowly(caller, counts, longest);
      }
      counts.await_place({kept_key::shortened(key), hash, true});
    } else {
      detail::add_count<K>::make(caller, this->number(), this->target_of(caller, hash), hash, key, std::uint32_t{1});
    }
  }
  /// As for a map, with the count as the value. The counts that this thread has inserted before are seen.
  void erase(container_caller caller, detail::key_parameter<K> key) const {
    send_pending(caller, key);
    detail::keyed_handle<K, std::uint64_t>::erase(caller, key);
  }
  /// Runs f on the key and its count, after what this rank has counted before; see keyed_handle.
  template <class F, class... Args>
  void visit(container_caller caller, detail::key_parameter<K> key, F f, Args&&... args) const {
    send_pending(caller, key);
    detail::keyed_handle<K, std::uint64_t>::visit(caller, key, f, std::forward<Args>(args)...);
  }
  /// As visit, but only where the key has been counted.
  template <class F, class... Args>
  void visit_if_present(container_caller caller, detail::key_parameter<K> key, F f, Args&&... args) const {
    send_pending(caller, key);
    detail::keyed_handle<K, std::uint64_t>::visit_if_present(caller, key, f, std::forward<Args>(args)...);
  }

 private:
  [[nodiscard]] detail::pending_counts<K>& pending(const container_caller& caller) const {
    detail::pending_operations* known = caller.buffers->pending_of(this->number());
    if (known == nullptr) {
      detail::check_container(*caller.core, this->number());
      auto result = std::make_unique<detail::pending_counts<K>>(this->number());
      known = result.get();
      caller.buffers->keep_pending(this->number(), std::move(result));
    }
    return static_cast<detail::pending_counts<K>&>(*known);
  }
  /// Counts a key that has waited, unless a flush counts it first.
  [[gnu::noinline]] void count_slowly(const container_caller& caller, detail::pending_counts<K>& counts,
                                      typename detail::pending_counts<K>::waiting& key) const {
    detail::throttle(*caller.core, *caller.thread);  // may flush
    caller.buffers->note_pending(this->number());
    if (key.any) insert_slowly(caller, counts, key.hash, key.key);
    key.any = false;
  }
  [[gnu::noinline]] void insert_slowly(const container_caller& caller, detail::pending_counts<K>& counts,
                                       std::uint64_t hash, const auto& key) const {
    caller.buffers->note_pending(this->number());
    if (counts.is_free(hash)) return counts.take_place(hash, key);
    const detail::buffers_lock held(*caller.buffers);
    if (counts.crowded()) counts.send_all(*caller.buffers);
    counts.count_in_any_case(*caller.buffers, hash, key);
  }
  void send_pending(const container_caller& caller, detail::key_parameter<K> key) const {
    if constexpr (detail::packs_tight<K>) {
      using kept_key = detail::counted_key<K>;
      const std::uint64_t hash = detail::hash_of(key);
      detail::pending_counts<K>& counts = pending(caller);
      const detail::buffers_lock held(*caller.buffers);
      if (kept_key::is_short(key)) {
        counts.send_count(*caller.buffers, hash, kept_key::shortened(key));
      } else {
        counts.send_count(*caller.buffers, hash, key);
      }
    }
  }
};

/// How often each key was inserted, over all ranks. K as for nacre::map; how it is made and ends, too.
///
///     nacre::counting_set<std::string> words(rt);
///     words.insert("the");
///     rt.wait_quiescence();
///     for (auto& [word, count] : words.top(10)) ...
template <class K>
class counting_set : public detail::keyed_container<K, std::uint64_t, counting_set_handle<K>> {
  using base = detail::keyed_container<K, std::uint64_t, counting_set_handle<K>>;

 public:
  explicit counting_set(runtime& rt, const counting_set_handle<K>& saved = {}) : base(rt, saved) {}

  /// Counts a key once. Asynchronous.
  void insert(detail::key_parameter<K> key) { this->own().insert(this->caller_, key); }

  /// How often a key was inserted. Collective, as all that follow.
  [[nodiscard]] std::uint64_t count(detail::key_parameter<K> key) const { return this->find(key).value_or(0); }
  /// How often any key was inserted.
  [[nodiscard]] std::uint64_t count_all() const { return reduce(std::plus<>{}); }
  /// The `n` keys with the largest counts, the largest first, then by key, on every rank.
  [[nodiscard]] std::vector<std::pair<K, std::uint64_t>> top(std::size_t n) const {
    return this->first_of_all(this->first_pairs(n, detail::ranks_before{}), n, detail::ranks_before{});
  }
  /// Calls `f(const K&, std::uint64_t)`, which may have captures, with each key of this rank and its count.
  template <class F>
  void for_all(F&& f) const {
    this->with_part("for_all", [&](const auto& part) { part.each([&](const auto& one) { f(one.key, one.value); }); });
  }
  /// All keys with their counts on one rank, and none on the others.
  [[nodiscard]] std::vector<std::pair<K, std::uint64_t>> gather(rank_id target) const {
    return this->gather_all(this->pairs("gather"), target);
  }
  /// Combines all counts by `op`, which is associative and commutative, on every rank; 0 when there are none.
  template <class Op>
  [[nodiscard]] std::uint64_t reduce(Op op) const {
    return this->combine_all(this->of_part("reduce",
                                           [&](const auto& part) {
                                             std::optional<std::uint64_t> sum;
                                             part.each([&](const auto& one) {
                                               sum = sum ? static_cast<std::uint64_t>(op(*sum, one.value)) : one.value;
                                             });
                                             return sum;
                                           }),
                             op);
  }
};

}  // namespace nacre
