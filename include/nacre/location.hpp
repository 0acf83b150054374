// SPDX-License-Identifier: Apache-2.0
// Who is told where a mobile object has moved: the policies that a program may choose from.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace nacre {

/// How ranks come to know where an object is (Clam section 3.1). Every promise holds under each of them; what differs
/// is how often messages are forwarded and how many updates are sent. A program chooses by --nacre.location; a type of
/// object for itself by a static member, and an array for its elements by array_options:
///
///     static constexpr auto location = nacre::location_policy::home;
enum class location_policy : std::uint8_t {
  of_program,         ///< what --nacre.location says
  lazy_forwarding,    ///< nobody is told; messages follow the object from rank to rank
  jump_update,        ///< who sent to an old place is told by the rank where the message ended
  path_update,        ///< so is every rank that has forwarded the message
  home,               ///< old places send to the object's home, which knows; who sent there is told
  broadcast_update,   ///< every rank is told of every migration
  subscriber_update,  ///< ranks that sent to an old place are told of the migrations that follow
};

/// The names of the policies, as --nacre.location takes them, in the order of location_policy from lazy_forwarding on.
inline constexpr std::array<std::string_view, 6> location_policy_names{
    "lazy_forwarding", "jump_update", "path_update", "home", "broadcast_update", "subscriber_update"};

[[nodiscard]] constexpr std::string_view name_of(location_policy policy) noexcept {
  const auto index = static_cast<std::size_t>(policy);
  return index == 0 || index > location_policy_names.size() ? "of_program" : location_policy_names[index - 1];
}
/// The policy of that name; nothing when there is none.
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
