// SPDX-License-Identifier: Apache-2.0
// Keys as text, for messages to people.
#pragma once

#include <concepts>
#include <iosfwd>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

#include <nacre/key_hash.hpp>

namespace nacre::detail {

// The untyped functions; src/runtime/api/keyed.cpp.
/// The text in quotes; a long one is cut.
[[nodiscard]] std::string quoted_key(std::string_view text);
/// The text that `write` writes; a long one is cut. Empty when it throws.
[[nodiscard]] std::string written_key(const void* key, void (*write)(std::ostream& out, const void* key));

template <class K>
concept written_by_operator = requires(std::ostream& out, const K& key) {
  out << key;
};

/// A key for people: "nacre" in quotes, 17, (2, "b"). Of other types than text, numbers, enums, pairs and tuples: what
/// their operator<< writes; empty without one.
template <class K>
[[nodiscard]] std::string text_of_key(const K& key) {
  if constexpr (std::is_convertible_v<const K&, std::string_view>) {
    return quoted_key(key);
  } else if constexpr (std::same_as<K, bool>) {
    return key ? "true" : "false";
  } else if constexpr (std::same_as<K, char>) {
    return quoted_key(std::string_view(&key, 1));
  } else if constexpr (std::is_arithmetic_v<K>) {
    return std::to_string(key);
  } else if constexpr (is_hashed_parts<K>) {
    std::string text;
    const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + (part.empty() ? "?" : part); };
    std::apply([&](const auto&... part) { (add(text_of_key(part)), ...); }, key);
    return "(" + text + ")";
  } else if constexpr (written_by_operator<K>) {
    return written_key(&key, [](std::ostream& out, const void* bytes) { out << *static_cast<const K*>(bytes); });
  } else if constexpr (std::is_enum_v<K>) {
    return std::to_string(static_cast<std::underlying_type_t<K>>(key));
  } else {
    return {};
  }
}

}  // namespace nacre::detail
