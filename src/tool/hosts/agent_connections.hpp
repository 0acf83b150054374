// SPDX-License-Identifier: Apache-2.0
// The launcher's connections to its agents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "join/launch/control_connections.hpp"
#include "join/net/socket.hpp"
#include "tool/hosts/host_message.hpp"
#include "wire/job_secret.hpp"

namespace nacre::tool {

/// A message of an agent; nullopt: its connection has ended.
struct agent_report {
  std::uint32_t host = 0;
  std::optional<host_message> message;
};

/// Listens for the agents, one for each host, and holds their connections. No function blocks. One thread.
///
/// | the agent of a host | then |
/// |---|---|
/// | completes the handshake | its connection is kept and its messages are reported |
/// | completes another one after its first message | the new connection is refused |
/// | closes the connection before its first message | nothing is reported; it may call again |
/// | closes the connection later, or sends bytes that are no message | the end of the connection is reported |
class agent_connections final : private launch::control_connections<host_message>::events {
 public:
  agent_connections(std::uint32_t hosts, net::unique_fd listening_socket);

  [[nodiscard]] const std::string& address() const noexcept { return connections_.address(); }
  /// The secret of the agents. It differs from the secret of the ranks, so the proof of one is no proof of the other.
  [[nodiscard]] const job_secret& secret() const noexcept { return secret_; }
  /// Readable when poll has work to do.
  [[nodiscard]] int descriptor() const noexcept { return connections_.descriptor(); }

  /// Does all work that does not block, and appends the reports, in order for each host.
  void poll(time_point now, std::vector<agent_report>& reports);
  /// Sends a message to the agent of `host`, or does nothing when its connection has ended.
  void send(std::uint32_t host, const host_message& m) { connections_.send(host, m); }

 private:
  [[nodiscard]] std::optional<std::string> refusal(std::uint32_t host) const override;
  [[nodiscard]] bool received(std::uint32_t host, host_message m) override;
  void disconnected(std::uint32_t host, bool sound) override;

  job_secret secret_;
  launch::control_connections<host_message> connections_;
  std::vector<bool> heard_;            // by host: at least one message has come
  std::size_t heard_count_ = 0;        // hosts
  std::vector<agent_report> reports_;  // not yet given to the caller of poll
};

}  // namespace nacre::tool
