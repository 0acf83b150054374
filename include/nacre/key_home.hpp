// SPDX-License-Identifier: Apache-2.0
// The function by which a program chooses the homes of the keys of an array.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>

#include <nacre/collectives.hpp>
#include <nacre/ids.hpp>
#include <nacre/image_rows.hpp>

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

[[nodiscard]] inline std::int64_t number_of_home(rank_id rank) noexcept { return rank.value(); }
[[nodiscard]] std::int64_t number_of_home(std::integral auto number) noexcept {
  return static_cast<std::int64_t>(number);
}
/// Calls a function without captures for the home of a key.
template <class K, class F>
std::int64_t home_by(void (*)(), const K& key, std::uint32_t ranks) {
  F function{};
  return number_of_home(function(key, ranks));
}
template <class K, class F>
inline home_row home_row_of{typeid(F).name(), reinterpret_cast<void (*)()>(&home_by<K, F>)};
template <class K, class F>
inline const image_registration<home_row> home_enlisted{home_row_of<K, F>};

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
      call_ = [](any_function subject, const K& key, std::uint32_t ranks) {
        return number_of_home(reinterpret_cast<F>(subject)(key, ranks));
      };
    } else {
      static_cast<void>(&home_enlisted<K, F>);
      call_ = &home_by<K, F>;
      row_ = &home_row_of<K, F>;
    }
  }

  [[nodiscard]] explicit operator bool() const noexcept { return call_ != nullptr; }
  /// The number that the function returns, which need not be that of a rank. Throws what the function throws.
  [[nodiscard]] std::int64_t operator()(const K& key, std::uint32_t ranks) const {
    return call_(function_, key, ranks);
  }
  /// A number that differs, most likely, from that of a function of another type; 0: there is none.
  [[nodiscard]] std::uint32_t mark() const noexcept { return mark_; }

  /// By the name of its row. Throws usage_error for a pointer to a function, which has none.
  template <class Archive>
  void save(Archive& ar) const {
    if (call_ != nullptr && row_ == nullptr) {
      throw usage_error(
          "a keyed array whose homes a pointer to a function chooses cannot be saved: give keyed_by::home a lambda");
    }
    ar(row_ != nullptr ? image_name_of(*row_) : std::string(), mark_);
  }
  template <class Archive>
  void load(Archive& ar) {
    std::string name;
    ar(name, mark_);
    row_ = name.empty() ? nullptr : find_home_row(name);
    call_ = row_ != nullptr ? reinterpret_cast<home_call>(row_->call) : nullptr;
    if (!name.empty() && row_ == nullptr) ar.fail();
  }

 private:
  using any_function = void (*)();
  using home_call = std::int64_t (*)(any_function, const K& key, std::uint32_t ranks);

  home_call call_ = nullptr;
  any_function function_ = nullptr;
  const home_row* row_ = nullptr;
  std::uint32_t mark_ = 0;
};

// The untyped functions; src/runtime/api/keyed.cpp. `key`: its text, empty when it has none.
/// Throws usage_error: the function of an array names a rank that the job does not have.
[[noreturn]] void refuse_home(engine& core, std::uint64_t first, const std::string& key, std::int64_t named);
/// Throws usage_error: `asking` takes this rank for the home of a key, and this rank takes `named` for it.
[[noreturn]] void refuse_question(engine& core, std::uint64_t first, const std::string& key, rank_id asking,
                                  rank_id named);

}  // namespace nacre::detail
