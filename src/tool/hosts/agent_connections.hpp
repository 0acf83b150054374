// SPDX-License-Identifier: Apache-2.0
// The launcher's connections to its agents.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "join/net/listener.hpp"
#include "join/net/socket.hpp"
#include "tool/hosts/host_message.hpp"
#include "wire/job_secret.hpp"

namespace nacre::tool {

/// A message of an agent; nullopt: its connection has ended.
struct agent_report {
  std::uint32_t host = 0;
  std::optional<host_message> what;
};

/// Listens for the agents, one for each host, and holds their connections. No function blocks. One thread.
///
/// | the agent of a host | then |
/// |---|---|
/// | completes the handshake | its connection is kept and its messages are reported |
/// | completes another one after its first message | the new connection is refused |
/// | completes another one before its first message | the new connection replaces the old one |
/// | closes the connection before its first message | nothing is reported; it may call again |
/// | closes the connection later, or sends bytes that are no message | the end of the connection is reported |
///
/// Why a connection is replaced: when a handshake takes longer than an agent waits, the agent hangs up and calls again,
/// and the launcher may see the new call before the end of the old one.
class agent_connections {
 public:
  agent_connections(std::uint32_t hosts, net::unique_fd listening_socket);

  [[nodiscard]] const std::string& address() const noexcept { return address_; }
  /// The secret of the agents. It differs from the secret of the ranks, so the proof of one is no proof of the other.
  [[nodiscard]] const job_secret& secret() const noexcept { return secret_; }
  /// Readable when poll has work to do.
  [[nodiscard]] int descriptor() const noexcept { return events_.get(); }

  /// Does all work that does not block, and appends the reports, in order for each host.
  void poll(time_point now, std::vector<agent_report>& reports);
  /// Sends a message to the agent of `host`, or does nothing when its connection has ended.
  void send(std::uint32_t host, const host_message& m);

 private:
  struct connection {
    net::unique_fd socket;
    host_stream stream;
    bool heard = false;  // at least one message has come
  };

  void serve(std::uint32_t host, std::vector<agent_report>& reports);
  void flush(std::uint32_t host);

  net::unique_fd events_;
  std::string address_;
  job_secret secret_;
  net::listener listener_;
  std::vector<connection> connections_;  // by host
  std::size_t heard_ = 0;                // hosts with `heard`
};

}  // namespace nacre::tool
