// SPDX-License-Identifier: Apache-2.0
// Unreliable datagrams between two ranks: sealed and opened, without I/O.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "transport/udp/datagram.hpp"
#include "transport/udp/datagram_key.hpp"

namespace nacre::transport::udp {

/// Tells numbers that have been here, of those that are not much older than the newest (RFC 4303, section 3.4.3).
/// Invariant: `accept` returns true at most once for each number, because the numbers from newest() - kept + 1 to the
/// newest are marked, and it refuses all below.
class replay_window {
 public:
  static constexpr std::uint64_t kept = 1024;

  /// Whether the number is new; it is not new from now on. False also when it is older than all that are kept.
  [[nodiscard]] bool accept(std::uint64_t number) noexcept;

 private:
  std::bitset<kept> seen_;  // of number n at n mod kept
  std::uint64_t end_ = 0;   // one above the newest
};

/// One end of the unreliable service between two ranks. One thread.
///
/// | bytes | then |
/// |---|---|
/// | shorter than a head, with a wrong tag, or fields that are not 0 | dropped |
/// | a number that has been here, or is more than replay_window::kept older than the newest | dropped |
/// | anything else | taken, once |
///
/// The tag covers number, label and bytes, by keys of their own for each direction, so that neither a datagram of the
/// reliable protocol nor one of the own is ever taken for one of the peer.
class unreliable_link {
 public:
  using head = std::array<std::byte, unreliable_head_bytes>;
  struct opened {
    std::uint32_t label = 0;
    std::span<const std::byte> bytes{};
  };

  /// `datagram_bytes`: the longest datagram, head included.
  unreliable_link(std::uint32_t datagram_bytes, datagram_key outgoing, datagram_key incoming)
      : bytes_max_(datagram_bytes - unreliable_head_bytes),
        outgoing_(std::move(outgoing)),
        incoming_(std::move(incoming)) {}

  /// The most bytes that a datagram carries.
  [[nodiscard]] std::size_t bytes_max() const noexcept { return bytes_max_; }
  /// The head of the next datagram, which is to travel in front of the bytes, at most bytes_max() of them.
  [[nodiscard]] head seal(std::uint32_t label, byte_pieces bytes);
  /// The contents of a datagram that the peer has sealed, and that has not been here before. They lie in `datagram`.
  [[nodiscard]] std::optional<opened> open(std::span<const std::byte> datagram) noexcept;

 private:
  std::size_t bytes_max_;
  datagram_key outgoing_;
  datagram_key incoming_;
  std::uint64_t next_number_ = 0;
  replay_window taken_;
};

}  // namespace nacre::transport::udp
