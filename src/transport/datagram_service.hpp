// SPDX-License-Identifier: Apache-2.0
// Unreliable datagrams between ranks, an optional interface of a transport beside its messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <nacre/ids.hpp>

namespace nacre::transport {

/// The bytes of a datagram where they lie, in order.
using byte_pieces = std::span<const std::span<const std::byte>>;

/// A datagram that has come. `bytes` lie in the memory of the endpoint.
struct received_datagram {
  rank_id source;
  std::uint32_t label = 0;  ///< as its sender gave it
  std::span<const std::byte> bytes{};
};

/// Delivery: each datagram comes at most once and unchanged, or not at all, and in any order; nothing is sent again.
/// It is authentic where the transport's messages are. The service promises nothing about other messages: a datagram
/// may overtake them, and stay behind them.
///
/// Threads: those of `endpoint::poll`. Lives as long as the endpoint.
class datagram_service {
 public:
  /// Whether that peer gets datagrams. The own rank gets none.
  [[nodiscard]] virtual bool sends_to(rank_id peer) const noexcept = 0;
  /// The most bytes of a datagram, for every peer.
  [[nodiscard]] virtual std::size_t bytes_max() const noexcept = 0;
  /// The most pieces of a datagram.
  static constexpr std::size_t pieces_max = 4;
  /// Sends one to pieces_max pieces, together at most bytes_max() bytes, straight from the caller's memory, which is
  /// free again afterwards. False: there is no room at this endpoint, and the datagram is dropped. True promises
  /// nothing.
  [[nodiscard]] virtual bool send(rank_id target, std::uint32_t label, byte_pieces pieces) = 0;
  [[nodiscard]] bool send(rank_id target, std::uint32_t label, std::span<const std::byte> bytes) {
    return send(target, label, byte_pieces(&bytes, 1));
  }
  /// The next datagram that the last `endpoint::poll` has found, which returned true for it. Its bytes are valid until
  /// the next call of `endpoint::poll`, which drops those that were not taken.
  [[nodiscard]] virtual std::optional<received_datagram> take() = 0;

 protected:
  ~datagram_service() = default;
};

}  // namespace nacre::transport
