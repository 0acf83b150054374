// SPDX-License-Identifier: Apache-2.0
// The hash FNV-1a, for numbers that are to be equal in all processes and builds.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace nacre {

/// Hashes bytes one after the other. `Word` is std::uint32_t or std::uint64_t. Source: Fowler, Noll and Vo.
template <class Word>
class fnv1a {
  static_assert(std::is_same_v<Word, std::uint32_t> || std::is_same_v<Word, std::uint64_t>);
  static constexpr bool is_long = sizeof(Word) == 8;

 public:
  /// The hash of no bytes.
  static constexpr Word offset_basis = static_cast<Word>(is_long ? 0xcbf29ce484222325U : 0x811c9dc5U);

  constexpr void add(unsigned char byte) noexcept { value_ = (value_ ^ byte) * prime; }
  constexpr void add(std::string_view text) noexcept {
    for (const char each : text) add(static_cast<unsigned char>(each));
  }
  [[nodiscard]] constexpr Word value() const noexcept { return value_; }

 private:
  static constexpr Word prime = static_cast<Word>(is_long ? 0x100000001b3U : 0x01000193U);
  Word value_ = offset_basis;
};

}  // namespace nacre
