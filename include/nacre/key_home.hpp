// SPDX-License-Identifier: Apache-2.0
// The function by which a program chooses the homes of the keys of an array.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>

#include <nacre/collectives.hpp>
#include <nacre/ids.hpp>

namespace nacre::detail {

/// Whether F says the home of keys of type K: as a rank_id, or as a number.
template <class F, class K>
concept says_home = requires(F& function, const K& key, std::uint32_t ranks) {
  requires std::same_as<std::remove_cvref_t<decltype(function(key, ranks))>, rank_id> ||
      std::integral<std::remove_cvref_t<decltype(function(key, ranks))>>;
};
/// Whether F holds nothing that could differ between ranks but a pointer to a function.
template <class F>
concept holds_nothing = (std::is_empty_v<F> && std::is_default_constructible_v<F>) ||
                        (std::is_pointer_v<F> && std::is_function_v<std::remove_pointer_t<F>>);

/// The value of keyed_by::home, made from what the program gives. Empty: hashes choose the homes.
template <class K>
class key_home {
 public:
  key_home() = default;
  template <class F>
  requires(!std::same_as<F, key_home>) key_home(F function)
  noexcept {
    static_assert(
        says_home<F, K>,
        "nacre: the home of keyed_by is a function of (const key&, std::uint32_t ranks) that returns the home "
        "of the key: a number below `ranks`, or a nacre::rank_id");
    static_assert(holds_nothing<F>,
                  "nacre: the home of keyed_by has no captures or members: every rank calls its own copy, and the key "
                  "and the number of ranks must be enough for all of them to get the same answer");
    mark_ = type_mark<F>();
    if constexpr (std::is_pointer_v<F>) {
      function_ = reinterpret_cast<any_function>(function);
      call_ = [](any_function of, const K& key, std::uint32_t ranks) {
        return number_of(reinterpret_cast<F>(of)(key, ranks));
      };
    } else {
      call_ = [](any_function, const K& key, std::uint32_t ranks) {
        F made{};
        return number_of(made(key, ranks));
      };
    }
  }

  [[nodiscard]] explicit operator bool() const noexcept { return call_ != nullptr; }
  /// The number that the function returns, which need not be that of a rank. Throws what the function throws.
  [[nodiscard]] std::int64_t operator()(const K& key, std::uint32_t ranks) const {
    return call_(function_, key, ranks);
  }
  /// A number that differs, most likely, from that of a function of another type; 0: there is none.
  [[nodiscard]] std::uint32_t mark() const noexcept { return mark_; }

 private:
  using any_function = void (*)();
  [[nodiscard]] static std::int64_t number_of(rank_id rank) noexcept { return rank.value(); }
  [[nodiscard]] static std::int64_t number_of(std::integral auto number) noexcept {
    return static_cast<std::int64_t>(number);
  }

  std::int64_t (*call_)(any_function, const K& key, std::uint32_t ranks) = nullptr;
  any_function function_ = nullptr;
  std::uint32_t mark_ = 0;
};

// The untyped functions; src/runtime/api_keyed.cpp. `key`: its text, empty when it has none.
/// Throws usage_error: the function of an array names a rank that the job does not have.
[[noreturn]] void refuse_home(engine& core, std::uint64_t first, const std::string& key, std::int64_t named);
/// Throws usage_error: `asking` takes this rank for the home of a key, and this rank takes `named` for it.
[[noreturn]] void refuse_question(engine& core, std::uint64_t first, const std::string& key, rank_id asking,
                                  rank_id named);

}  // namespace nacre::detail
