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

#include <nacre/containers/keyed.hpp>

namespace nacre {

namespace detail {

template <class K>
struct add_count : keyed_operation<add_count<K>, K, std::uint64_t, std::tuple<std::uint32_t>> {
  static void apply(context&, flat_table<K, std::uint64_t>& of, std::uint64_t hash, const auto& key,
                    std::uint32_t count) {
    of.find_or_add(hash, key).first->value += count;
  }
};

/// The counts that a thread context has not sent yet: a table in which a key has one place, which it takes from another
/// key when it must. It grows while keys lose their places often. The owning thread; `flush` with the buffers' lock.
template <class K>
class pending_counts final : public pending_operations {
 public:
  explicit pending_counts(std::uint32_t container) : container_(container), places_(places_min) {}

  struct place {
    std::uint64_t hash = 0;
    std::uint32_t count = 0;
    std::uint32_t target = 0;
    K key{};
  };
  [[nodiscard]] place& at(std::uint64_t hash) noexcept { return places_[hash & (places_.size() - 1)]; }
  [[nodiscard]] static bool holds(const place& at, std::uint64_t hash, const auto& key) noexcept {
    return at.count != 0 && at.hash == hash && at.key == key;
  }

  /// Gives a free place to a key. Returns whether counts are pending here for the first time since the last flush.
  void take(place& at, std::uint64_t hash, std::uint32_t target, const auto& key) {
    at.key = key;
    at.hash = hash;
    at.target = target;
    used_.push_back(static_cast<std::uint32_t>(&at - places_.data()));
    at.count = 1;
  }
  /// Sends the count of a place, and gives the place to another key. With the lock.
  void replace(operation_buffers& to, place& at, std::uint64_t hash, std::uint32_t target, const auto& key) {
    send(to, at);
    at.key = key;
    at.hash = hash;
    at.target = target;
    at.count = 1;
    ++replaced_;
  }
  /// Sends the count of a place, if there is one. With the lock.
  void send(operation_buffers& to, place& at) {
    if (at.count == 0) return;
    if constexpr (carries_hash<K>) {
      append_locked<add_count<K>>(to, container_, at.target, at.hash, at.key, at.count);
    } else {
      append_locked<add_count<K>>(to, container_, at.target, at.key, at.count);
    }
    at.count = 0;
  }
  void flush(operation_buffers& to) override {
    for (const std::uint32_t each : used_) send(to, places_[each]);
    used_.clear();
    if (replaced_ > places_.size() && places_.size() < places_max) {
      std::vector<place> larger(places_.size() * 4);
      places_ = std::move(larger);
    }
    replaced_ = 0;
  }
  /// Whether so many keys have lost their places that a flush should make the table grow.
  [[nodiscard]] bool crowded() const noexcept { return replaced_ > places_.size() && places_.size() < places_max; }

 private:
  static constexpr std::size_t places_min = 256;
  static constexpr std::size_t places_max = 262144;

  std::uint32_t container_;
  std::size_t replaced_ = 0;  // since the last flush
  std::vector<place> places_;
  std::vector<std::uint32_t> used_;  // places with counts; some may have been sent
};

}  // namespace detail

/// The handle of a counting_set, for handlers: `handle.insert(ctx, key)`.
template <class K>
class counting_set_handle : public detail::keyed_handle<K, std::uint64_t> {
 public:
  using detail::keyed_handle<K, std::uint64_t>::keyed_handle;

  /// Counts a key once. Asynchronous.
  void insert(container_caller at, detail::key_parameter<K> key) const {
    const std::uint64_t hash = detail::hash_of(key);
    const std::uint32_t target = this->target_of(hash);
    if constexpr (detail::packs_tight<K>) {
      detail::pending_counts<K>& counts = pending(at);
      auto& place = counts.at(hash);
      if (counts.holds(place, hash, key) && place.count != ~std::uint32_t{0}) [[likely]] {
        ++place.count;
        return;
      }
      insert_slowly(at, counts, hash, target, key);
    } else {
      detail::add_count<K>::make(at, this->number(), target, hash, key, std::uint32_t{1});
    }
  }
  /// As for a map, with the count as the value. The counts that this thread has inserted before are seen.
  void erase(container_caller at, detail::key_parameter<K> key) const {
    send_pending(at, key);
    detail::keyed_handle<K, std::uint64_t>::erase(at, key);
  }
  /// Runs f on the key and its count, after what this rank has counted before; see keyed_handle.
  template <class F, class... Args>
  void visit(container_caller at, detail::key_parameter<K> key, F f, Args&&... args) const {
    send_pending(at, key);
    detail::keyed_handle<K, std::uint64_t>::visit(at, key, f, std::forward<Args>(args)...);
  }
  /// As visit, but only where the key has been counted.
  template <class F, class... Args>
  void visit_if_present(container_caller at, detail::key_parameter<K> key, F f, Args&&... args) const {
    send_pending(at, key);
    detail::keyed_handle<K, std::uint64_t>::visit_if_present(at, key, f, std::forward<Args>(args)...);
  }

 private:
  [[nodiscard]] detail::pending_counts<K>& pending(const container_caller& at) const {
    detail::pending_operations* known = at.buffers->pending_of(this->number());
    if (known == nullptr) {
      detail::check_container(*at.core, this->number());
      auto made = std::make_unique<detail::pending_counts<K>>(this->number());
      known = made.get();
      at.buffers->keep_pending(this->number(), std::move(made));
    }
    return static_cast<detail::pending_counts<K>&>(*known);
  }
  [[gnu::noinline]] void insert_slowly(const container_caller& at, detail::pending_counts<K>& counts,
                                       std::uint64_t hash, std::uint32_t target, detail::key_parameter<K> key) const {
    detail::throttle(*at.core, *at.on);  // may flush, and then the place is free
    if (counts.crowded()) {
      const detail::buffers_lock held(*at.buffers);
      counts.flush(*at.buffers);
    }
    auto& place = counts.at(hash);
    if (place.count == 0) {
      counts.take(place, hash, target, key);
    } else {
      const detail::buffers_lock held(*at.buffers);
      counts.replace(*at.buffers, place, hash, target, key);
    }
    at.buffers->note_pending(this->number());
  }
  void send_pending(const container_caller& at, detail::key_parameter<K> key) const {
    if constexpr (detail::packs_tight<K>) {
      const std::uint64_t hash = detail::hash_of(key);
      detail::pending_counts<K>& counts = pending(at);
      auto& place = counts.at(hash);
      if (!counts.holds(place, hash, key)) return;
      const detail::buffers_lock held(*at.buffers);
      counts.send(*at.buffers, place);
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
  explicit counting_set(runtime& rt) : base(rt) {}

  /// Counts a key once. Asynchronous.
  void insert(detail::key_parameter<K> key) { this->own().insert(this->at_, key); }

  /// How often a key was inserted. Collective, as all that follow.
  [[nodiscard]] std::uint64_t count(detail::key_parameter<K> key) const { return this->find(key).value_or(0); }
  /// How often any key was inserted.
  [[nodiscard]] std::uint64_t count_all() const { return reduce(std::plus<>{}); }
  /// The `n` keys with the largest counts, the largest first, then by key, on every rank.
  [[nodiscard]] std::vector<std::pair<K, std::uint64_t>> top(std::size_t n) const {
    return this->first_of_all(this->pairs("top"), n, &detail::ranks_before<K, std::uint64_t>);
  }
  /// Calls `f(const K&, std::uint64_t)`, which may have captures, with each key of this rank and its count.
  template <class F>
  void for_all(F&& f) {
    this->with_part("for_all",
                    [&](auto& part) { part.each([&](auto& one) { f(std::as_const(one.key), one.value); }); });
  }
  /// All keys with their counts on one rank, and none on the others.
  [[nodiscard]] std::vector<std::pair<K, std::uint64_t>> gather(rank_id to) const {
    return this->gather_all(this->pairs("gather"), to);
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
