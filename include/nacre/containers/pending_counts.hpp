// SPDX-License-Identifier: Apache-2.0
// The counts of a counting_set that a thread has not sent yet.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <nacre/containers/keyed.hpp>

namespace nacre::detail {

template <class K>
struct add_count : keyed_operation<add_count<K>, K, std::uint64_t, std::tuple<std::uint32_t>> {
  static void apply(context&, flat_table<K, std::uint64_t>& table, std::uint64_t hash, const auto& key,
                    std::uint32_t count) {
    table.find_or_add(hash, key).first->value += count;
  }
};

/// A key and its count that is pending. A *short* key is cheap to copy, and so may wait for the memory of its place.
template <class K>
class counted_key {
 public:
  using short_key = K;
  [[nodiscard]] static bool is_short(const K&) noexcept { return sizeof(K) <= 32; }
  [[nodiscard]] static const K& shortened(const K& key) noexcept { return key; }

  [[nodiscard]] bool equals(const K& other) const { return key_ == other; }
  void assign(const K& other) { key_ = other; }
  /// Calls what(key).
  template <class Use>
  void use(Use&& item) const {
    item(key_);
  }

 private:
  K key_{};

 public:
  std::uint32_t count = 0;  ///< 0: the place is free
};
/// Short text is compared without a loop or a call.
template <>
class counted_key<std::string> {
 public:
  using short_key = short_text;
  [[nodiscard]] static bool is_short(std::string_view key) noexcept { return key.size() <= short_text::size_max; }
  [[nodiscard]] static short_text shortened(std::string_view key) noexcept { return {key.data(), key.size()}; }

  [[nodiscard]] bool equals(const short_text& other) const noexcept { return text_ == other; }
  [[nodiscard]] bool equals(std::string_view other) const noexcept {
    return text_.size == long_size && *long_ == other;
  }
  void assign(const short_text& other) noexcept { text_ = other; }
  void assign(std::string_view other) {
    if (long_ == nullptr) {
      long_ = std::make_unique<std::string>(other);
    } else {
      *long_ = other;
    }
    text_.size = long_size;
  }
  template <class Use>
  void use(Use&& item) const {
    char room[short_text::size_max];
    item(text_.size == long_size ? std::string_view(*long_) : text_.write(room));
  }

 private:
  static constexpr std::uint32_t long_size = ~std::uint32_t{0};
  [[no_unique_address]] short_text text_;  // its size is long_size: the key is long_. The count lies in its padding.

 public:
  std::uint32_t count = 0;  ///< 0: the place is free

 private:
  std::unique_ptr<std::string> long_;  // of more than short_text::size_max bytes
};
static_assert(sizeof(counted_key<std::string>) == 32, "two in a cache line");

/// The counts that a thread context has not sent yet: a hash table in which each key has one place. A key may take its
/// place from another key, whose count is then sent. The table grows if that happens often. A place is seldom in a
/// cache, so the last few short keys wait while their places are being fetched. The owning thread calls all functions;
/// those marked "with the lock" need the lock of the buffers.
template <class K>
class pending_counts final : public pending_operations {
 public:
  using kept_key = counted_key<K>;
  explicit pending_counts(std::uint32_t container) : container_(container), places_(places_min) {}

  /// A key that has been inserted and is not counted yet.
  struct waiting {
    typename kept_key::short_key key{};
    std::uint64_t hash = 0;
    bool any = false;  ///< false: there is none
  };
  /// The waiting key that is counted next; await_place then puts the new key where this one was.
  [[nodiscard]] waiting& longest_waiting() noexcept { return waiting_[next_waiting_ % waiting_.size()]; }
  /// Lets a key wait, in the place of one that has been counted.
  void await_place(const waiting& key) {
    __builtin_prefetch(&at(key.hash), 1);
    waiting_[next_waiting_++ % waiting_.size()] = key;
  }
  /// Counts a key if it has its place; otherwise returns false.
  [[nodiscard]] bool count(std::uint64_t hash, const auto& key) {
    place& position = at(hash);
    const bool counts =
        position.count - 1 < ~std::uint32_t{0} - 1 && position.equals(key);  // neither 0 (a free place) nor the maximum
    position.count += static_cast<std::uint32_t>(counts);
    return counts;
  }
  /// Whether the place of a key is free.
  [[nodiscard]] bool is_free(std::uint64_t hash) const noexcept {
    return places_[hash & (places_.size() - 1)].count == 0;
  }
  /// Counts a key whose place is free.
  void take_place(std::uint64_t hash, const auto& key) {
    place& position = at(hash);
    position.assign(key);
    used_.push_back(static_cast<std::uint32_t>(&position - places_.data()));
    position.count = 1;
  }
  /// Counts a key, whose place is taken from another one if it must be. With the lock.
  void count_in_any_case(operation_buffers& buffers, std::uint64_t hash, const auto& key) {
    if (count(hash, key)) return;
    if (is_free(hash)) return take_place(hash, key);
    place& position = at(hash);
    send(buffers, position);
    position.assign(key);
    position.count = 1;
    ++replaced_;
  }
  /// Counts all keys that wait. With the lock.
  void count_waiting(operation_buffers& buffers) {
    for (waiting& each : waiting_) count_waiting(buffers, each);
  }
  /// Sends what is pending of a key. With the lock.
  void send_count(operation_buffers& buffers, std::uint64_t hash, const auto& key) {
    for (waiting& each : waiting_) {
      if (each.hash == hash) count_waiting(buffers, each);
    }
    place& position = at(hash);
    if (position.count != 0 && position.equals(key)) send(buffers, position);
  }
  void flush(operation_buffers& buffers) override {
    count_waiting(buffers);
    send_all(buffers);
  }
  /// Sends all that is in the table, which grows if it is crowded. With the lock.
  void send_all(operation_buffers& buffers) {
    for (const std::uint32_t each : used_) {
      if (places_[each].count != 0) send(buffers, places_[each]);
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
  static constexpr std::size_t place_bytes = std::bit_ceil(sizeof(kept_key));
  struct alignas(place_bytes <= 64 ? place_bytes : alignof(kept_key)) place : kept_key {};
  [[nodiscard]] place& at(std::uint64_t hash) noexcept { return places_[hash & (places_.size() - 1)]; }

  void count_waiting(operation_buffers& buffers, waiting& key) {
    if (key.any) count_in_any_case(buffers, key.hash, key.key);
    key.any = false;
  }
  void send(operation_buffers& buffers, place& position) {
    position.use([&](const auto& key) {
      const std::uint64_t hash = hash_of(key);
      const std::uint32_t target = target_of(hash, buffers.targets());
      if constexpr (carries_hash<K>) {
        append_locked<add_count<K>>(buffers, container_, target, hash, key, position.count);
      } else {
        append_locked<add_count<K>>(buffers, container_, target, key, position.count);
      }
    });
    position.count = 0;
  }

  std::uint32_t container_;
  std::uint32_t next_waiting_ = 0;
  std::size_t replaced_ = 0;  // since the last flush
  std::array<waiting, waiting_max> waiting_;
  std::vector<place> places_;
  std::vector<std::uint32_t> used_;  // places with counts; some may have been sent
};

}  // namespace nacre::detail
