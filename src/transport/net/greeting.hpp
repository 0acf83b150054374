// SPDX-License-Identifier: Apache-2.0
// A connection from its first byte to the proof that its other end belongs to the job.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "transport/net/socket.hpp"
#include "wire/auth.hpp"

namespace nacre::transport::net {

using time_point = std::chrono::steady_clock::time_point;

/// A connection whose other end has proven itself.
struct guest {
  unique_fd socket;
  peer_identity identity;
  std::string address;              ///< of the other end, for logs
  std::vector<std::byte> leftover;  ///< bytes of the peer that came behind the handshake, to be read first
};

/// Drives one handshake over one non-blocking socket. One thread.
///
/// | state | socket is ready | time is over |
/// |---|---|---|
/// | connecting | greeting, or refused when the connection failed | refused |
/// | greeting | bytes move between socket and handshake; accepted or refused as that is, once its last words have left
/// | refused |
class greeting {
 public:
  enum class outcome { pending, accepted, refused };

  /// The side that was called.
  greeting(unique_fd accepted, handshake how, time_point deadline);
  /// The side that calls; the connection is under way (start_connect).
  [[nodiscard]] static greeting of_caller(unique_fd connecting, handshake how, time_point deadline);

  /// Does what can be done now. Call it when the socket is ready and when the deadline has passed.
  outcome advance(time_point now);

  [[nodiscard]] int descriptor() const noexcept { return socket_.get(); }
  /// True when it waits for the socket to become writable, in addition to readable.
  [[nodiscard]] bool wants_to_write() const noexcept { return connecting_ || !handshake_.to_send().empty(); }
  [[nodiscard]] time_point deadline() const noexcept { return deadline_; }
  /// Lets the deadline be this one, if it is sooner.
  void hurry(time_point deadline) noexcept { deadline_ = std::min(deadline_, deadline); }
  [[nodiscard]] const std::string& address() const noexcept { return address_; }

  /// The connection, after `accepted`. Leaves the greeting without a socket.
  [[nodiscard]] guest take();
  /// Why not, after `refused`.
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

}  // namespace nacre::transport::net
