// SPDX-License-Identifier: Apache-2.0
// What a rank and its launcher say to each other, and the byte stream that carries it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <nacre/expected.hpp>

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

/// Cuts the bytes of a control connection into messages, each behind its length in 4 bytes, and queues those to be
/// sent. No I/O. One thread.
class control_stream {
 public:
  /// A longer message is an error: room for the addresses of all ranks that a launcher may start.
  static constexpr std::size_t message_bytes_max = 1u << 20;

  void push(const control_message& m);
  [[nodiscard]] std::span<const std::byte> outgoing() const noexcept { return std::span(outgoing_).subspan(sent_); }
  void sent(std::size_t bytes) noexcept;

  void received(std::span<const std::byte> bytes);
  /// The next message that is complete; nothing while there is none; a clause when the bytes are no message.
  [[nodiscard]] expected<std::optional<control_message>, std::string_view> pop();

 private:
  std::vector<std::byte> outgoing_;
  std::size_t sent_ = 0;
  std::vector<std::byte> incoming_;
};

}  // namespace nacre::transport::launch
