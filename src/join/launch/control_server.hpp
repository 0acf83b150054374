// SPDX-License-Identifier: Apache-2.0
// The control server, the launcher's side: ranks join there, report failures, and are told of the job's end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <nacre/ids.hpp>

#include "join/launch/control_connections.hpp"
#include "join/launch/control_message.hpp"
#include "join/net/socket.hpp"
#include "wire/job_secret.hpp"

namespace nacre::launch {

/// The control connection of a rank has ended, and the rank had not announced that it leaves.
struct disconnected {};

/// An event of a rank: one of its messages, or the end of its connection.
struct report {
  rank_id source;
  std::variant<joined, lost, left, disconnected> event;
};

/// Lets the ranks of one job find each other. Nothing blocks. One thread.
///
/// | a rank | then |
/// |---|---|
/// | proves the secret and joins | its address is kept; when all have joined, every rank gets the roster |
/// | joins after announce | it is told at once |
/// | proves to be a rank that has joined | the new connection is refused |
/// | hangs up before it has joined | it may call again; the launcher notices the end of its process elsewhere |
/// | gives up before all have joined | reported as the loss of the first rank that has not joined |
/// | sends bytes that are no control message, or hangs up | its connection is closed; reported unless it had left |
class control_server final : private control_connections<control_message>::events {
 public:
  /// `address`: an address of this host that all ranks can reach, and a port or 0.
  control_server(std::uint32_t size, const job_secret& secret,
                 const net::address& address = net::address::any_port_of_loopback());

  /// The address where it listens, for the job credentials.
  [[nodiscard]] const std::string& address() const noexcept { return connections_.address(); }
  /// Readable when poll has something to do.
  [[nodiscard]] int descriptor() const noexcept { return connections_.descriptor(); }
  /// The rank has a control connection that has not ended.
  [[nodiscard]] bool is_connected(std::uint32_t rank) const noexcept { return connections_.is_connected(rank); }

  /// Serves all connections that are ready and appends the events, in order for each rank. Call it now and then even if
  /// none is ready, for the deadlines of handshakes.
  void poll(net::time_point now, std::vector<report>& reports);

  /// Tells every rank that the job ends, now or when it joins. Once.
  void announce(const aborted& aborted);
  /// Tells every rank, now or when it joins, that a signal asks for a last image. Once.
  void ask_for_image(const image_wanted& wish);

 private:
  struct member {
    std::string address;  // where the rank listens; empty until it has joined
    bool left = false;
  };

  [[nodiscard]] std::optional<std::string> refusal(std::uint32_t rank) const override;
  void connected(std::uint32_t rank) override;
  [[nodiscard]] bool received(std::uint32_t rank, control_message m) override;
  void disconnected(std::uint32_t rank, bool sound) override;
  [[nodiscard]] std::uint32_t first_missing(std::uint32_t otherwise) const noexcept;
  void send_roster_when_complete();

  control_connections<control_message> connections_;
  std::vector<member> members_;  // by rank
  std::vector<report> reports_;  // not yet given to the caller of poll
  std::uint32_t joined_ = 0;     // ranks
  bool complete_ = false;        // all ranks have joined
  std::optional<aborted> announced_;
  std::optional<image_wanted> wish_;
};

}  // namespace nacre::launch
