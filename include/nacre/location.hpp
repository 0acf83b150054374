// SPDX-License-Identifier: Apache-2.0
// Location policies: which ranks are told of the migration of a mobile object.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace nacre {

/// How ranks learn the location of an object (Clam sections 3.3 and 4.2). All guarantees hold under each policy; they
/// differ in the number of forwarded messages and of location updates. A program selects its policy by
/// --nacre.location, an object type by a static member, and an array, for its elements, by array_options:
///
///     static constexpr auto location = nacre::location_policy::home;
enum class location_policy : std::uint8_t {
  of_program,         ///< the policy that --nacre.location selects
  lazy_forwarding,    ///< no updates but to the home; messages follow the object from rank to rank
  jump_update,        ///< the rank that runs a message updates its sender, if it sent to an old location
  path_update,        ///< as jump_update, and every rank that has forwarded the message is updated too
  home,               ///< old locations forward to the object's home, which knows the new one; senders are updated
  broadcast_update,   ///< every rank is updated at every migration
  subscriber_update,  ///< ranks that sent to an old location are updated at the migrations that follow
};

/// The names of the policies, as --nacre.location takes them, in the order of location_policy from lazy_forwarding on.
inline constexpr std::array<std::string_view, 6> location_policy_names{
    "lazy_forwarding", "jump_update", "path_update", "home", "broadcast_update", "subscriber_update"};

/// The name of a policy, as --nacre.location takes it; "of_program" for that value.
[[nodiscard]] constexpr std::string_view name_of(location_policy policy) noexcept {
  const auto index = static_cast<std::size_t>(policy);
  return index == 0 || index > location_policy_names.size() ? "of_program" : location_policy_names[index - 1];
}
/// The policy that has this name; nothing when there is none.
[[nodiscard]] constexpr std::optional<location_policy> location_policy_of(std::string_view name) noexcept {
  for (std::size_t index = 0; index < location_policy_names.size(); ++index) {
    if (location_policy_names[index] == name) return static_cast<location_policy>(index + 1);
  }
  return std::nullopt;
}

namespace detail {

template <class T>
concept declares_location = requires {
  { T::location } -> std::convertible_to<location_policy>;
};

template <class T>
constexpr location_policy location_of() noexcept {
  if constexpr (declares_location<T>) {
    return T::location;
  } else {
    return location_policy::of_program;
  }
}

}  // namespace detail
}  // namespace nacre
