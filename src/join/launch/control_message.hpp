// SPDX-License-Identifier: Apache-2.0
// The control messages between a rank and its launcher.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "join/launch/message_stream.hpp"

namespace nacre::launch {

/// Rank to launcher, first: the address where the rank listens for its peers.
struct joined {
  std::string address;
};
/// Launcher to every rank, once all have joined: the address where each listens, by rank.
struct roster {
  std::vector<std::string> addresses;
};
/// Rank to launcher: the rank cannot reach a peer any more.
struct lost {
  std::uint32_t peer = 0;
  std::string reason;
};
/// Rank to launcher: the rank has sent its shutdown to its peers, so its end is no failure.
struct left {};
/// Launcher to every rank: the job ends. With a rank the reason is a clause about it, without one a sentence.
struct aborted {
  std::optional<std::uint32_t> peer;
  std::string reason;
};

/// Launcher to every rank: a signal asks the job for a last image, behind which it ends.
struct image_wanted {
  std::int32_t signal = 0;
};

using control_message = std::variant<joined, roster, lost, left, aborted, image_wanted>;

extern template class message_stream<control_message>;
using control_stream = message_stream<control_message>;

}  // namespace nacre::launch
