// SPDX-License-Identifier: Apache-2.0
// Hashes of keys: equal on all ranks, and with all bits mixed, because the high ones choose the rank.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <nacre/archive.hpp>

namespace nacre::detail {

__extension__ typedef unsigned __int128 wide_word;

/// The two halves of a product, folded: every bit of the result depends on every bit of `a` and `b`.
[[nodiscard]] constexpr std::uint64_t fold(std::uint64_t a, std::uint64_t b) noexcept {
  const wide_word product = wide_word{a} * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}
inline constexpr std::uint64_t hash_seed = 0x9e3779b97f4a7c15U;
inline constexpr std::uint64_t hash_step = 0xe7037ed1a0b428dbU;

[[nodiscard]] constexpr std::uint64_t hash_word(std::uint64_t word) noexcept {
  return fold(word ^ hash_seed, hash_step) ^ word;
}

[[nodiscard]] inline std::uint64_t load_word(const char* source) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, source, sizeof word);
  return word;
}
[[nodiscard]] inline std::uint64_t load_half(const char* source) noexcept {
  std::uint32_t half = 0;
  std::memcpy(&half, source, sizeof half);
  return half;
}

/// Text of at most 16 bytes as two words, so that == needs no loop. The words overlap if the text is shorter.
struct short_text {
  static constexpr std::size_t size_max = 16;
  std::uint64_t low = 0, high = 0;
  std::uint32_t size = 0;

  short_text() = default;
  short_text(const char* position, std::size_t length) noexcept : size(static_cast<std::uint32_t>(length)) {
    if (length >= 8) {
      low = load_word(position);
      high = load_word(position + length - 8);
    } else if (length >= 4) {
      low = load_half(position);
      high = load_half(position + length - 4);
    } else if (length > 0) {
      const auto byte = [&](std::size_t i) { return std::uint64_t{static_cast<unsigned char>(position[i])}; };
      low = byte(0) << 16 | byte(length / 2) << 8 | byte(length - 1);
    }
  }
  /// Writes the text to `room` and returns it.
  [[nodiscard]] std::string_view write(char (&room)[size_max]) const noexcept {
    if (size >= 8) {
      std::memcpy(room, &low, 8);
      std::memcpy(room + size - 8, &high, 8);
    } else if (size >= 4) {
      std::memcpy(room, &low, 4);
      std::memcpy(room + size - 4, &high, 4);
    } else if (size > 0) {
      room[0] = static_cast<char>(low >> 16);
      room[size / 2] = static_cast<char>(low >> 8);
      room[size - 1] = static_cast<char>(low);
    }
    return {room, size};
  }
  friend bool operator==(const short_text& a, const short_text& b) noexcept {
    return ((a.low ^ b.low) | (a.high ^ b.high) | (a.size ^ b.size)) == 0;
  }
};

/// `sum`: of what comes before this text, and of the length of all.
[[nodiscard]] inline std::uint64_t hash_short(const short_text& text, std::uint64_t sum) noexcept {
  return fold(fold(text.low ^ hash_step, text.high ^ sum), hash_seed);
}

[[nodiscard]] inline std::uint64_t hash_text(std::string_view text) noexcept {
  const char* position = text.data();
  std::size_t left = text.size();
  std::uint64_t sum = hash_seed ^ left;
  for (; left > 16; left -= 16, position += 16)
    sum = fold(load_word(position) ^ hash_step, load_word(position + 8) ^ sum);
  return hash_short(short_text(position, left), sum);
}

template <class T>
inline constexpr bool is_hashed_parts = false;
template <class A, class B>
inline constexpr bool is_hashed_parts<std::pair<A, B>> = true;
template <class... Ts>
inline constexpr bool is_hashed_parts<std::tuple<Ts...>> = true;

template <class K>
inline constexpr bool is_hashed_range = false;
template <class T, class Allocator>
inline constexpr bool is_hashed_range<std::vector<T, Allocator>> = true;
template <class T, std::size_t N>
inline constexpr bool is_hashed_range<std::array<T, N>> = true;

template <class K>
concept std_hashed = requires(const K& key) {
  std::hash<K>{}(key);
};
/// Equal keys are packed to equal bytes, if `serialize` names the members that `==` compares.
template <class K>
concept hashed_by_bytes =
    serializable<K> && !std_hashed<K> && !is_hashed_parts<K> && !is_hashed_range<K> && !is_a<K, std::optional> &&
    (custom<K> || (std::is_class_v<K> && std::has_unique_object_representations_v<K>));

/// Whether hash_of takes keys of type K.
template <class K>
struct is_hashed : std::bool_constant<std::is_convertible_v<const K&, std::string_view> || std::integral<K> ||
                                      std::is_enum_v<K> || std_hashed<K> || hashed_by_bytes<K>> {};
template <class A, class B>
struct is_hashed<std::pair<A, B>> : std::bool_constant<is_hashed<A>::value && is_hashed<B>::value> {};
template <class... Ts>
struct is_hashed<std::tuple<Ts...>> : std::bool_constant<(is_hashed<Ts>::value && ...)> {};
template <class T, class Allocator>
struct is_hashed<std::vector<T, Allocator>> : std::bool_constant<is_hashed<T>::value> {};
template <class T, std::size_t N>
struct is_hashed<std::array<T, N>> : std::bool_constant<is_hashed<T>::value> {};
template <class T>
struct is_hashed<std::optional<T>> : std::bool_constant<is_hashed<T>::value> {};

/// The hash of a key: numbers, enums, text; pairs, tuples, arrays, vectors and optionals of keys; all types with a
/// std::hash, which must give the same number on every rank (so it must not hash an address); and else classes with a
/// `serialize`, by the bytes that they pack to: equal keys must pack to equal bytes, which 0.0 and -0.0 do not, nor
/// unordered containers.
template <class K>
[[nodiscard]] std::uint64_t hash_of(const K& key) {
  if constexpr (std::is_convertible_v<const K&, std::string_view>) {
    return hash_text(key);
  } else if constexpr (std::integral<K> || std::is_enum_v<K>) {
    return hash_word(static_cast<std::uint64_t>(key));
  } else if constexpr (is_hashed_parts<K>) {
    std::uint64_t sum = hash_seed;
    std::apply([&](const auto&... part) { ((sum = fold(sum ^ hash_of(part), hash_step)), ...); }, key);
    return sum;
  } else if constexpr (std_hashed<K>) {
    return hash_word(std::hash<K>{}(key));
  } else if constexpr (is_hashed_range<K>) {
    std::uint64_t sum = hash_seed ^ key.size();
    for (const auto& part : key) sum = fold(sum ^ hash_of(part), hash_step);
    return sum;
  } else if constexpr (is_a<K, std::optional>) {
    return key ? fold(hash_of(*key), hash_step) : hash_seed;
  } else if constexpr (hashed_by_bytes<K>) {
    const std::vector<std::byte> bytes = pack(key);
    return hash_text({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  } else {
    constexpr bool hashed = is_hashed<K>::value;
    static_assert(hashed, "a key of a container needs a hash: specialise std::hash for its type");
    return 0;
  }
}

}  // namespace nacre::detail
