// SPDX-License-Identifier: Apache-2.0
// The policies by which senders take turns at the link to a receiver.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace nacre {

/// The party that says when a message of send_with_flow_control may leave; docs/incast.md compares them.
enum class flow_policy : std::uint8_t {
  none,      ///< nobody: it leaves at once
  token,     ///< the senders among themselves: one of them at a time has the token of the link
  credit,    ///< the receiver, when what it has allowed before has arrived
  slot,      ///< the receiver, which answers each request with the time at which the message may leave
  automatic  ///< `none` if no two ranks share a link, `slot` in a very large job, else `token`; named "auto"
};

/// "none", "token", "credit", "slot", "auto".
[[nodiscard]] std::string_view name_of(flow_policy policy) noexcept;
/// Nothing for a name that no policy has.
[[nodiscard]] std::optional<flow_policy> flow_policy_of(std::string_view name) noexcept;

}  // namespace nacre
