// SPDX-License-Identifier: Apache-2.0
// The control messages between a rank and its launcher, and the byte stream that carries them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <nacre/expected.hpp>

#include "join/launch/frame_stream.hpp"

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

using control_message = std::variant<joined, roster, lost, left, aborted>;

/// The control connection as messages, in both directions. No I/O. One thread.
class control_stream : public frame_stream {
 public:
  void push(const control_message& m);
  /// The next complete message; nothing while there is none; an error, as a clause, when the bytes are no message.
  [[nodiscard]] expected<std::optional<control_message>, std::string_view> pop();
};

}  // namespace nacre::launch
