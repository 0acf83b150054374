// SPDX-License-Identifier: Apache-2.0
// The control server, the launcher's side: ranks join there, report failures, and are told of the job's end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <nacre/ids.hpp>

#include "join/launch/control_message.hpp"
#include "join/net/listener.hpp"
#include "join/net/socket.hpp"
#include "wire/job_secret.hpp"

namespace nacre::launch {

/// The control connection of a rank has ended, and the rank had not announced that it leaves.
struct hung_up {};

/// An event of a rank: one of its messages, or the end of its connection.
struct report {
  rank_id from;
  std::variant<joined, lost, left, hung_up> what;
};

/// Listens for the ranks of one job. Nothing blocks. One thread.
///
/// | a rank | then |
/// |---|---|
/// | proves the secret and joins | its address is kept; when all have joined, every rank gets the roster |
/// | joins after announce | it is told at once |
/// | proves to be a rank that has joined | the new connection is refused |
/// | proves to be one that is connected and has not joined | the new connection replaces the old one (see below) |
/// | hangs up before it has joined | it may call again; the launcher notices the end of its process elsewhere |
/// | gives up before all have joined | reported as the loss of the first rank that has not joined |
/// | sends bytes that are no control message, or hangs up | its connection is closed; reported unless it had left |
///
/// A rank calls again when a handshake took longer than it could wait. The second call may become known here before the
/// end of the first one does, so the newer connection counts.
class control_server {
 public:
  /// `at`: an address of this host that all ranks can reach, and a port or 0.
  control_server(std::uint32_t size, const job_secret& secret,
                 const net::address& at = net::address::any_port_of_loopback());

  /// The address where it listens, for the job credentials.
  [[nodiscard]] const std::string& address() const noexcept { return address_; }
  /// Readable when poll has something to do.
  [[nodiscard]] int descriptor() const noexcept { return events_.get(); }

  /// The rank has a control connection that has not ended.
  [[nodiscard]] bool is_connected(std::uint32_t rank) const noexcept {
    return static_cast<bool>(connections_[rank].socket);
  }

  /// Serves all connections that are ready and appends the events, in order for each rank. Call it now and then even if
  /// none is ready, for the deadlines of handshakes.
  void poll(net::time_point now, std::vector<report>& reports);

  /// Tells every rank that the job ends, now or when it joins. Once.
  void announce(const aborted& why);

 private:
  control_server(std::uint32_t size, const job_secret& secret, net::unique_fd listening_socket);

  struct connection {
    net::unique_fd socket;
    control_stream stream;
    std::string address;  // where the rank listens; empty until it has joined
    bool left = false;
  };

  [[nodiscard]] bool admit(net::peer_candidate& candidate, net::time_point now);
  void serve(std::uint32_t rank, std::vector<report>& reports);
  [[nodiscard]] bool receive(connection& from);
  [[nodiscard]] bool interpret(std::uint32_t rank, std::vector<report>& reports);
  [[nodiscard]] std::uint32_t first_missing(std::uint32_t otherwise) const noexcept;
  void send(std::uint32_t rank);
  void send_roster_when_complete();

  net::unique_fd events_;
  std::string address_;
  net::listener listener_;
  std::vector<connection> connections_;  // by rank; without a socket before the call and after the end
  bool complete_ = false;                // all ranks have joined
  std::optional<aborted> announced_;
};

}  // namespace nacre::launch
