// SPDX-License-Identifier: Apache-2.0
// The launcher's control connections: one for each member of the job, which is a rank or the agent of a host.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "join/launch/launcher_connection.hpp"
#include "join/launch/message_stream.hpp"
#include "join/net/listener.hpp"
#include "join/net/socket.hpp"
#include "join/net/watch.hpp"
#include "wire/job_secret.hpp"

namespace nacre::launch {

/// Listens for the members, and holds their connections. No function blocks. One thread.
///
/// | a member | then |
/// |---|---|
/// | completes the handshake | its connection is kept: connected |
/// | completes another one | it is refused, if `refusal` says why; else the new connection replaces the old one |
/// | sends a message | received; if that returns false, the connection is closed: disconnected |
/// | closes its connection, or sends bytes that are no message | disconnected |
///
/// Why a connection is replaced: when a handshake takes longer than a member waits, the member hangs up and calls
/// again, and the launcher may see the new call before the end of the old one.
template <class Message>
class control_connections {
 public:
  /// The events of the connections. `poll` calls them; they may call `send`.
  struct events {
    /// Why a member must not connect (again), as a clause; nullopt: it may.
    [[nodiscard]] virtual std::optional<std::string> refusal(std::uint32_t member) const = 0;
    virtual void connected(std::uint32_t) {}
    /// Returns false when the member must not send this message now.
    [[nodiscard]] virtual bool received(std::uint32_t member, Message m) = 0;
    /// `sound`: all messages up to the end of the connection were.
    virtual void disconnected(std::uint32_t member, bool sound) = 0;

   protected:
    ~events() = default;
  };

  control_connections(std::uint32_t members, const job_secret& secret, net::unique_fd listening_socket)
      : ready_(::epoll_create1(EPOLL_CLOEXEC)),
        address_(net::address::of_own_end(listening_socket.get()).text()),
        listener_(std::move(listening_socket), secret, control_identity(members, members),
                  net::refusal_log("nacre run:")),
        connections_(members) {
    net::watch({.events = ready_.get(), .descriptor = listener_.descriptor(), .tag = listener_tag}, EPOLL_CTL_ADD);
  }

  /// The address where it listens.
  [[nodiscard]] const std::string& address() const noexcept { return address_; }
  /// Readable when poll has something to do.
  [[nodiscard]] int descriptor() const noexcept { return ready_.get(); }
  [[nodiscard]] std::uint32_t members() const noexcept { return static_cast<std::uint32_t>(connections_.size()); }
  /// The member has a connection that has not ended.
  [[nodiscard]] bool is_connected(std::uint32_t member) const noexcept { return bool(connections_[member].socket); }

  /// Serves the connections that are ready, each about once. Call it now and then even if none is ready, for the
  /// deadlines of handshakes.
  void poll(net::time_point now, events& owner);
  /// Sends a message, or does nothing when the member has no connection.
  void send(std::uint32_t member, const Message& m);
  /// All members have joined; from now on every new call is refused.
  void job_begins(net::time_point now) { listener_.job_begins(now); }

 private:
  static constexpr std::uint64_t listener_tag = ~std::uint64_t{0};
  static constexpr std::size_t reads_per_call = 16;  // so that no member keeps the launcher from the others

  struct connection {
    net::unique_fd socket;  // empty before the call and after the end
    message_stream<Message> stream;
  };

  void accept(std::uint32_t member, net::peer_candidate candidate, events& owner);
  void serve(std::uint32_t member, events& owner);
  /// Returns false when the connection has ended.
  [[nodiscard]] static bool receive(connection& connection);
  void flush(std::uint32_t member);

  net::unique_fd ready_;
  std::string address_;
  net::listener listener_;
  std::vector<connection> connections_;  // by member
};

template <class Message>
void control_connections<Message>::poll(net::time_point now, events& owner) {
  std::vector<net::peer_candidate> candidates;
  listener_.poll(now, candidates);
  for (net::peer_candidate& candidate : candidates) {
    const std::uint32_t member = candidate.identity.rank.value();  // in range: the handshake has checked it
    if (const auto reason = owner.refusal(member)) {
      listener_.refuse(candidate, *reason, now);
    } else {
      accept(member, std::move(candidate), owner);
    }
  }
  std::array<epoll_event, 64> ready;
  for (std::size_t served = 0; served <= connections_.size(); served += ready.size()) {
    const int count = ::epoll_wait(ready_.get(), ready.data(), ready.size(), 0);
    for (int i = 0; i < count; ++i) {
      const std::uint64_t tag = ready[static_cast<std::size_t>(i)].data.u64;
      if (tag != listener_tag) serve(static_cast<std::uint32_t>(tag), owner);
    }
    if (count < static_cast<int>(ready.size())) break;
  }
}

template <class Message>
void control_connections<Message>::accept(std::uint32_t member, net::peer_candidate candidate, events& owner) {
  connection& place = connections_[member];
  place.socket = std::move(candidate.socket);
  place.stream = {};
  place.stream.received(candidate.leftover);
  net::watch({.events = ready_.get(), .descriptor = place.socket.get(), .tag = member}, EPOLL_CTL_ADD);
  owner.connected(member);
  serve(member, owner);
}

template <class Message>
void control_connections<Message>::serve(std::uint32_t member, events& owner) {
  connection& connection = connections_[member];
  if (!connection.socket) return;
  flush(member);
  const bool open = receive(connection);
  auto m = connection.stream.pop();
  bool sound = m.has_value();
  while (sound && *m) {
    sound = owner.received(member, std::move(**m));
    if (!sound) break;
    m = connection.stream.pop();
    sound = m.has_value();
  }
  if (open && sound) return;
  connection.socket.reset();
  owner.disconnected(member, sound);
}

template <class Message>
bool control_connections<Message>::receive(connection& connection) {
  std::array<std::byte, 16 * 1024> buffer;
  std::ptrdiff_t received = 1;
  for (std::size_t reads = 0; reads < reads_per_call && received > 0; ++reads) {
    received = net::receive_some(connection.socket.get(), buffer.data(), buffer.size());
    if (received > 0) connection.stream.received(std::span(buffer.data(), static_cast<std::size_t>(received)));
  }
  return received >= 0;
}

template <class Message>
void control_connections<Message>::send(std::uint32_t member, const Message& m) {
  if (!connections_[member].socket) return;
  connections_[member].stream.push(m);
  flush(member);
}

template <class Message>
void control_connections<Message>::flush(std::uint32_t member) {
  connection& connection = connections_[member];
  bool moved = false;
  while (!connection.stream.outgoing().empty()) {
    const auto bytes = connection.stream.outgoing();
    const std::ptrdiff_t sent = net::send_some(connection.socket.get(), bytes.data(), bytes.size());
    if (sent <= 0) break;  // serve sees the error when it reads
    connection.stream.sent(static_cast<std::size_t>(sent));
    moved = true;
  }
  const bool more = !connection.stream.outgoing().empty();
  if (!moved && !more) return;
  net::watch({.events = ready_.get(), .descriptor = connection.socket.get(), .tag = member, .to_write = more},
             EPOLL_CTL_MOD);
}

}  // namespace nacre::launch
