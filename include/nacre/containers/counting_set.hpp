// SPDX-License-Identifier: Apache-2.0
// nacre::counting_set: how often each key was inserted. Counts of repeated keys are added up before they leave.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
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

/// The key of a count that is pending. A *short* key is cheap to copy, and so may wait for the memory of its place.
template <class K>
class counted_key {
 public:
  using short_key = K;
  [[nodiscard]] static bool is_short(const K&) noexcept { return sizeof(K) <= 32; }
  [[nodiscard]] static const K& shortened(const K& key) noexcept { return key; }

  [[nodiscard]] bool equals(const K& other) const noexcept { return key_ == other; }
  void assign(const K& other) noexcept { key_ = other; }
  /// Calls what(key).
  template <class Use>
  void use(Use&& what) const {
    what(key_);
  }

 private:
  K key_{};
};
/// Short text is compared without a loop or a call.
template <>
class counted_key<std::string> {
 public:
  using short_key = short_text;
  [[nodiscard]] static bool is_short(std::string_view key) noexcept { return key.size() <= short_text::size_max; }
  [[nodiscard]] static short_text shortened(std::string_view key) noexcept { return {key.data(), key.size()}; }

  [[nodiscard]] bool equals(const short_text& other) const noexcept { return text_ == other; }
  [[nodiscard]] bool equals(std::string_view other) const noexcept { return text_.size == long_size && long_ == other; }
  void assign(const short_text& other) noexcept { text_ = other; }
  void assign(std::string_view other) {
    long_ = other;
    text_.size = long_size;
  }
  template <class Use>
  void use(Use&& what) const {
    char room[short_text::size_max];
    what(text_.size == long_size ? std::string_view(long_) : text_.write(room));
  }

 private:
  static constexpr std::uint64_t long_size = ~std::uint64_t{0};
  short_text text_;   // its size is long_size: the key is long_
  std::string long_;  // of more than short_text::size_max bytes
};

/// The counts that a thread context has not sent yet: a table in which a key has one place, which it takes from another
/// key when it must. It grows while keys lose their places often. A place is seldom in a cache, so the last few short
/// keys wait until theirs is. The owning thread; what says so, with the buffers' lock.
template <class K>
class pending_counts final : public pending_operations {
 public:
  using kept_key = counted_key<K>;
  pending_counts(std::uint32_t container, std::uint32_t targets)
      : container_(container), targets_(targets), places_(places_min) {}

  /// A key that has been inserted and is not counted yet.
  struct waiting {
    typename kept_key::short_key key{};
    std::uint64_t hash = 0;
    bool any = false;  ///< false: there is none
  };
  /// Lets a key wait, and returns the one that has waited for longest.
  [[nodiscard]] waiting await_place(const waiting& key) noexcept {
    __builtin_prefetch(&at(key.hash), 1);
    return std::exchange(waiting_[next_waiting_++ % waiting_.size()], key);
  }
  /// Counts a key if it has its place; otherwise returns false.
  [[nodiscard]] bool count(std::uint64_t hash, const auto& key) noexcept {
    place& there = at(hash);
    const bool counts = there.count - 1 < ~std::uint32_t{0} - 1 && there.key.equals(key);  // neither none nor the most
    there.count += static_cast<std::uint32_t>(counts);
    return counts;
  }
  /// Whether the place of a key is free.
  [[nodiscard]] bool is_free(std::uint64_t hash) const noexcept {
    return places_[hash & (places_.size() - 1)].count == 0;
  }
  /// Counts a key whose place is free.
  void take_place(std::uint64_t hash, const auto& key) {
    place& there = at(hash);
    there.key.assign(key);
    used_.push_back(static_cast<std::uint32_t>(&there - places_.data()));
    there.count = 1;
  }
  /// Counts a key, whose place is taken from another one if it must be. With the lock.
  void count_in_any_case(operation_buffers& to, std::uint64_t hash, const auto& key) {
    if (count(hash, key)) return;
    if (is_free(hash)) return take_place(hash, key);
    place& there = at(hash);
    send(to, there);
    there.key.assign(key);
    there.count = 1;
    ++replaced_;
  }
  /// Counts all keys that wait. With the lock.
  void count_waiting(operation_buffers& to) {
    for (waiting& each : waiting_) {
      if (std::exchange(each.any, false)) count_in_any_case(to, each.hash, each.key);
    }
  }
  /// Sends what is pending of a key. With the lock.
  void send_count(operation_buffers& to, std::uint64_t hash, const auto& key) {
    count_waiting(to);
    place& there = at(hash);
    if (there.count != 0 && there.key.equals(key)) send(to, there);
  }
  void flush(operation_buffers& to) override {
    count_waiting(to);
    for (const std::uint32_t each : used_) {
      if (places_[each].count != 0) send(to, places_[each]);
    }
    used_.clear();
    if (crowded()) {
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
  static constexpr std::size_t waiting_max = 16;  // about as many cache misses as a processor has under way

  // No place lies in two cache lines, if it fits into one.
  struct alignas(sizeof(kept_key) > 24 && sizeof(kept_key) <= 56 ? 64
                                                                 : std::max(alignof(kept_key), std::size_t{4})) place {
    kept_key key;
    std::uint32_t count = 0;
  };
  [[nodiscard]] place& at(std::uint64_t hash) noexcept { return places_[hash & (places_.size() - 1)]; }

  void send(operation_buffers& to, place& from) {
    from.key.use([&](const auto& key) {
      const std::uint64_t hash = hash_of(key);
      const std::uint32_t target = target_of(hash, targets_);
      if constexpr (carries_hash<K>) {
        append_locked<add_count<K>>(to, container_, target, hash, key, from.count);
      } else {
        append_locked<add_count<K>>(to, container_, target, key, from.count);
      }
    });
    from.count = 0;
  }

  std::uint32_t container_;
  std::uint32_t targets_;
  std::uint32_t next_waiting_ = 0;
  std::size_t replaced_ = 0;  // since the last flush
  std::array<waiting, waiting_max> waiting_;
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
    if constexpr (detail::packs_tight<K>) {
      using kept_key = detail::counted_key<K>;
      detail::pending_counts<K>& counts = pending(at);
      if (!kept_key::is_short(key)) {
        if (!counts.count(hash, key)) insert_slowly(at, counts, hash, key);
        return;
      }
      const auto due = counts.await_place({kept_key::shortened(key), hash, true});
      if (!due.any) return at.buffers->note_pending(this->number());
      if (!counts.count(due.hash, due.key)) insert_slowly(at, counts, due.hash, due.key);
    } else {
      detail::add_count<K>::make(at, this->number(), this->target_of(hash), hash, key, std::uint32_t{1});
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
      auto made = std::make_unique<detail::pending_counts<K>>(this->number(), this->targets());
      known = made.get();
      at.buffers->keep_pending(this->number(), std::move(made));
    }
    return static_cast<detail::pending_counts<K>&>(*known);
  }
  [[gnu::noinline]] void insert_slowly(const container_caller& at, detail::pending_counts<K>& counts,
                                       std::uint64_t hash, const auto& key) const {
    detail::throttle(*at.core, *at.on);  // may flush, and then the place is free
    if (counts.is_free(hash)) {
      counts.take_place(hash, key);
    } else {
      const detail::buffers_lock held(*at.buffers);
      if (counts.crowded()) counts.flush(*at.buffers);
      counts.count_in_any_case(*at.buffers, hash, key);
    }
    at.buffers->note_pending(this->number());
  }
  void send_pending(const container_caller& at, detail::key_parameter<K> key) const {
    if constexpr (detail::packs_tight<K>) {
      using kept_key = detail::counted_key<K>;
      const std::uint64_t hash = detail::hash_of(key);
      detail::pending_counts<K>& counts = pending(at);
      const detail::buffers_lock held(*at.buffers);
      if (kept_key::is_short(key)) {
        counts.send_count(*at.buffers, hash, kept_key::shortened(key));
      } else {
        counts.send_count(*at.buffers, hash, key);
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
