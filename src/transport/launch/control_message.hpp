// SPDX-License-Identifier: Apache-2.0
// What a rank and its launcher say to each other, and the byte stream that carries it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <nacre/expected.hpp>

#include "transport/launch/piece_stream.hpp"

namespace nacre::transport::launch {

/// Rank to launcher, first: where it listens for its peers.
struct joined {
  std::string address;
};
/// Launcher to every rank, once all have joined: where each listens, by rank.
struct roster {
  std::vector<std::string> addresses;
};
/// Rank to launcher: it cannot reach a peer any more.
struct lost {
  std::uint32_t peer = 0;
  std::string reason;
};
/// Rank to launcher: it has said goodbye to its peers, so that its end is no failure.
struct left {};
/// Launcher to every rank: the job ends. Without a rank the reason speaks for itself.
struct aborted {
  std::optional<std::uint32_t> peer;
  std::string reason;
};

using control_message = std::variant<joined, roster, lost, left, aborted>;

/// The control connection as messages, in both directions. No I/O. One thread.
class control_stream : public piece_stream {
 public:
  void push(const control_message& m);
  /// The next message that is complete; nothing while there is none; a clause when the bytes are no message.
  [[nodiscard]] expected<std::optional<control_message>, std::string_view> pop();
};

}  // namespace nacre::transport::launch
