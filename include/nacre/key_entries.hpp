// SPDX-License-Identifier: Apache-2.0
// Keys with their hashes, as tables find them, and the keys of elements, for messages to people.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>

namespace nacre::detail {

template <class K>
struct kept_key {
  std::uint64_t hash;
  K key;
};
template <class K>
struct seen_key {
  std::uint64_t hash;
  const K& key;
};
struct kept_hash {
  using is_transparent = void;
  std::size_t operator()(const auto& subject) const noexcept { return static_cast<std::size_t>(subject.hash); }
};
struct same_key {
  using is_transparent = void;
  bool operator()(const auto& a, const auto& b) const { return a.hash == b.hash && a.key == b.key; }
};
/// By key; `Entry` has a member `element`, 0 while it is not known. Keys stay where they are.
template <class K, class Entry>
using key_map = std::unordered_map<kept_key<K>, Entry, kept_hash, same_key>;

/// The keys of a map by their elements. Takes no memory before a name is wanted for the first time. Under the mutex of
/// the map.
template <class K>
class key_names {
 public:
  /// The key of an element; null when the map does not have it. The first call takes time for all keys.
  template <class Entry>
  [[nodiscard]] const K* find(const key_map<K, Entry>& in, std::uint64_t element) {
    if (keys_ == nullptr) {
      auto result = std::make_unique<by_element>();
      for (const auto& [kept, entry] : in) {
        if (entry.element != 0) result->emplace(entry.element, &kept.key);
      }
      keys_ = std::move(result);
    }
    const auto match = keys_->find(element);
    return match != keys_->end() ? match->second : nullptr;
  }
  /// A key of the map has got its element.
  template <class Entry>
  void note(const key_map<K, Entry>& in, const seen_key<K>& key, std::uint64_t element) noexcept {
    if (keys_ == nullptr) return;
    try {
      keys_->insert_or_assign(element, &in.find(key)->first.key);
    } catch (...) {  // the next find begins anew
      keys_.reset();
    }
  }

  /// The key of an element is being taken out of the map.
  void forget(std::uint64_t element) noexcept {
    if (keys_ != nullptr) keys_->erase(element);
  }

 private:
  using by_element = std::unordered_map<std::uint64_t, const K*>;
  std::unique_ptr<by_element> keys_;  // null: no name has been wanted so far
};

}  // namespace nacre::detail
