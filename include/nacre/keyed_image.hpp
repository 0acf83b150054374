// SPDX-License-Identifier: Apache-2.0
// The table of a keyed array in an image.
#pragma once

#include <atomic>
#include <cstdint>

#include <nacre/archive.hpp>
#include <nacre/keyed_table.hpp>

namespace nacre::detail {

template <class T, class K>
template <class Archive>
void key_table<T, K>::serialize(Archive& ar) {
  std::uint64_t next = next_.load(std::memory_order_relaxed), keys = 0;  // no other thread uses the table
  for (const stripe& in : stripes_) keys += in.keys.size();
  ar(self_, places_, rank_, on_first_use_, home_, first_, next, end_, keys);
  if constexpr (Archive::is_loading::value) {
    next_.store(next, std::memory_order_relaxed);
    load_keys(ar, keys);
  } else {
    for (const stripe& in : stripes_) {
      for (const auto& [kept, known] : in.keys) ar(kept.key, known.element);
    }
  }
}

template <class T, class K>
template <class Archive>
void key_table<T, K>::load_keys(Archive& ar, std::uint64_t count) {
  for (; count > 0 && ar.ok(); --count) {
    K key = blank<K>();
    std::uint64_t element = 0;
    ar(key, element);
    const seen_key<K> seen{hash_of(key), key};
    entry_of(stripe_of(seen.hash), seen).element = element;
  }
}

/// The names of the keys are known again.
template <class T, class K>
void after_restore(engine& core, key_table<T, K>& table) {
  name_keys(core, table.array(), [&table](object_id element) { return table.text_of(element); });
}

}  // namespace nacre::detail
