// SPDX-License-Identifier: Apache-2.0
// The launcher's connections to its agents.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tool/hosts/host_message.hpp"
#include "transport/net/door.hpp"
#include "transport/net/socket.hpp"
#include "wire/job_secret.hpp"

namespace nacre::tool {

/// What an agent has said; nothing: its connection has ended.
struct agent_report {
  std::uint32_t host = 0;
  std::optional<host_message> what;
};

/// Listens for one agent for each host. Nothing blocks. One thread.
///
/// | an agent | then |
/// |---|---|
/// | proves the secret | its connection is kept; its messages are reported |
/// | proves to be one that has been heard | the new connection is refused |
/// | proves to be one that is there but has said nothing | the new connection takes the old one's place: the handshake
/// took longer than the agent could wait, and that it hung up may be known later than that it called again |
/// | sends what is no message, or hangs up | its connection is closed and the end reported |
/// | hangs up before its first message | it may call again |
class agent_lines {
 public:
  agent_lines(std::uint32_t hosts, transport::net::unique_fd listener);

  [[nodiscard]] const std::string& address() const noexcept { return address_; }
  /// For the tickets of agents; another one than that of the ranks, so that no proof of one serves for the other.
  [[nodiscard]] const job_secret& secret() const noexcept { return secret_; }
  /// Readable when poll has something to do.
  [[nodiscard]] int descriptor() const noexcept { return events_.get(); }

  /// Does what can be done now and appends what it learnt, in order for each host.
  void poll(time_point now, std::vector<agent_report>& reports);
  /// Does nothing when the connection has ended.
  void send(std::uint32_t host, const host_message& m);

 private:
  struct connection {
    transport::net::unique_fd socket;
    host_stream stream;
    bool heard = false;  // at least one message of it
  };

  void serve(std::uint32_t host, std::vector<agent_report>& reports);
  void flush(std::uint32_t host);

  transport::net::unique_fd events_;
  std::string address_;
  job_secret secret_;
  transport::net::door door_;
  std::vector<connection> connections_;  // by host
  std::size_t heard_ = 0;                // hosts whose agents have spoken
};

}  // namespace nacre::tool
