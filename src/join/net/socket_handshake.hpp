// SPDX-License-Identifier: Apache-2.0
// The handshake over one socket, from the first byte to the proof that the other end belongs to the job.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "join/net/socket.hpp"
#include "wire/auth.hpp"

namespace nacre::net {

using time_point = std::chrono::steady_clock::time_point;

/// A connection of which the other end has proven the job's secret.
struct peer_candidate {
  unique_fd socket;
  peer_identity identity;
  std::string address;              ///< of the other end, for logs
  std::vector<std::byte> leftover;  ///< bytes that came behind the handshake, to be read first
};

/// Drives one handshake over one non-blocking socket. One thread.
///
/// | state | socket is ready | time is over |
/// |---|---|---|
/// | connecting | in progress, or refused when the connection failed | refused |
/// | in progress | bytes move between socket and handshake until that is accepted or refused, and has left | refused |
class socket_handshake {
 public:
  enum class outcome { pending, accepted, refused };

  /// The called side. `other_end`: for logs, for its end may forget it before the handshake is over.
  socket_handshake(unique_fd accepted, const net::address& other_end, handshake handshake, time_point deadline);
  /// The calling side; the connection to `other_end` is under way (start_connect).
  [[nodiscard]] static socket_handshake of_caller(unique_fd connecting, const net::address& other_end,
                                                  handshake handshake, time_point deadline);

  /// Advances as far as the socket allows. Call it when the socket is ready and when the deadline has passed.
  outcome advance(time_point now);

  [[nodiscard]] int descriptor() const noexcept { return socket_.get(); }
  /// True when it waits for the socket to become writable, not only readable.
  [[nodiscard]] bool wants_to_write() const noexcept { return connecting_ || !handshake_.to_send().empty(); }
  [[nodiscard]] time_point deadline() const noexcept { return deadline_; }
  /// Moves the deadline to this one, if it is sooner.
  void hurry(time_point deadline) noexcept { deadline_ = std::min(deadline_, deadline); }
  [[nodiscard]] const std::string& address() const noexcept { return address_; }

  /// The connection, after `accepted`. Leaves this object without a socket.
  [[nodiscard]] peer_candidate take();
  /// The reason, after `refused`.
  [[nodiscard]] const refusal& why() const { return handshake_.why(); }

 private:
  [[nodiscard]] bool send();
  [[nodiscard]] bool receive();
  [[nodiscard]] outcome verdict() const;

  unique_fd socket_;
  handshake handshake_;
  time_point deadline_;
  std::string address_;
  std::vector<std::byte> leftover_;
  bool connecting_ = false;
};

}  // namespace nacre::net
