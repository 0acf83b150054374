// SPDX-License-Identifier: Apache-2.0
// The local hash table of a container: open addressing over an index, elements dense and in one piece.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

namespace nacre::detail {

/// Elements by key. The index holds for each element 32 bits of its hash and its number, so that a look-up compares
/// keys only where those bits agree, and growing the index reads no element. Linear probing, at most two thirds full;
/// an erased element is replaced by the last one, and the index has no gaps. At most 2^31 elements.
///
/// Callers hand in the hash of the key. References to elements are valid until the next insertion or erasure. One
/// thread at a time.
template <class K, class V>
class flat_table {
 public:
  struct element {
    K key;
    V value;
    std::uint64_t hash;
  };

  [[nodiscard]] std::size_t size() const noexcept { return elements_.size(); }
  [[nodiscard]] std::vector<element>& elements() noexcept { return elements_; }
  [[nodiscard]] const std::vector<element>& elements() const noexcept { return elements_; }

  /// Brings the place of a hash into the cache; and the element that stands there, once the place has come.
  void prefetch_place(std::uint64_t hash) const noexcept {
    if (!index_.empty()) __builtin_prefetch(&index_[home_of(hash)]);
  }
  void prefetch_element(std::uint64_t hash) const noexcept {
    if (index_.empty()) return;
    const std::uint32_t number = index_[home_of(hash)].number;
    if (number != 0) __builtin_prefetch(&elements_[number - 1]);
  }

  /// Null when there is no such element. `key` compares equal to a K.
  template <class Key>
  [[nodiscard]] element* find(std::uint64_t hash, const Key& key) {
    if (elements_.empty()) return nullptr;
    for (std::size_t index = home_of(hash); index_[index].number != 0; index = next(index)) {
      if (element* const target = match(index_[index], hash, key)) return target;
    }
    return nullptr;
  }

  /// The element of the key, made from `key` and a default value when there is none; and whether it was made.
  template <class Key>
  std::pair<element*, bool> find_or_add(std::uint64_t hash, const Key& key) {
    if ((elements_.size() + 1) * 3 > index_.size() * 2) grow();
    std::size_t index = home_of(hash);
    for (; index_[index].number != 0; index = next(index)) {
      if (element* const target = match(index_[index], hash, key)) return {target, false};
    }
    elements_.push_back(element{K(key), V(), hash});
    index_[index] = {static_cast<std::uint32_t>(hash), static_cast<std::uint32_t>(elements_.size())};
    return {&elements_.back(), true};
  }

  /// Whether there was such an element.
  template <class Key>
  bool erase(std::uint64_t hash, const Key& key) {
    if (elements_.empty()) return false;
    std::size_t index = home_of(hash);
    while (index_[index].number != 0 && match(index_[index], hash, key) == nullptr) index = next(index);
    if (index_[index].number == 0) return false;
    const std::uint32_t number = index_[index].number;
    const auto last = static_cast<std::uint32_t>(elements_.size());
    if (number != last) {
      std::size_t moved = home_of(elements_.back().hash);
      while (index_[moved].number != last) moved = next(moved);
      elements_[number - 1] = std::move(elements_.back());
      index_[moved].number = number;
    }
    elements_.pop_back();
    close_gap(index);
    if constexpr (std::is_nothrow_move_constructible_v<element>) {
      if (elements_.capacity() > small && elements_.size() < elements_.capacity() / 8) shrink();
    }
    return true;
  }

  /// Gives the memory back, too.
  void clear() noexcept {
    elements_ = {};
    index_ = {};
  }

  /// For the container of the elements: its operations set it, and the container clears it when it has looked.
  bool is_changed = true;

 private:
  static constexpr std::size_t small = 1024;  // elements, whose memory is kept

  struct place {
    std::uint32_t hash = 0;
    std::uint32_t number = 0;  // of the element, from 1 on; 0: none
  };

  [[nodiscard]] std::size_t home_of(std::uint64_t hash) const noexcept {
    return static_cast<std::uint32_t>(hash) & (index_.size() - 1);
  }
  [[nodiscard]] std::size_t next(std::size_t index) const noexcept { return (index + 1) & (index_.size() - 1); }
  template <class Key>
  [[nodiscard]] element* match(const place& position, std::uint64_t hash, const Key& key) {
    if (position.hash != static_cast<std::uint32_t>(hash)) return nullptr;
    element& target = elements_[position.number - 1];
    return target.key == key ? &target : nullptr;
  }

  /// Moves the elements behind `gap` back to where a search for them begins, or nearer.
  void close_gap(std::size_t gap) noexcept {
    const std::size_t mask = index_.size() - 1;
    for (std::size_t index = next(gap); index_[index].number != 0; index = next(index)) {
      const std::size_t home = index_[index].hash & mask;
      if (((index - home) & mask) < ((index - gap) & mask)) continue;  // its search begins behind the gap
      index_[gap] = index_[index];
      gap = index;
    }
    index_[gap] = {};
  }

  void grow() {
    const std::size_t places = index_.empty() ? 16 : index_.size() * 2;
    if (places > std::size_t{1} << 32)
      throw std::length_error("a container holds 2^31 elements on one worker: use more ranks");
    index_again(places);
  }
  /// Memory follows the elements that are there, not the most that there have ever been. Without memory for a smaller
  /// copy the table stays as it is.
  void shrink() noexcept {
    try {
      std::vector<element> fewer;
      fewer.reserve(elements_.size() * 2);
      index_again(index_.size() / 4);
      for (element& each : elements_) fewer.push_back(std::move(each));
      elements_ = std::move(fewer);
    } catch (const std::bad_alloc&) {
    }
  }
  /// `places`: a power of two.
  void index_again(std::size_t places) {
    std::vector<place> again(places);
    for (const place& each : index_) {
      if (each.number == 0) continue;
      std::size_t index = each.hash & (places - 1);
      while (again[index].number != 0) index = (index + 1) & (places - 1);
      again[index] = each;
    }
    index_ = std::move(again);
  }

  std::vector<place> index_;
  std::vector<element> elements_;
};

}  // namespace nacre::detail
