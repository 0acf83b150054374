// SPDX-License-Identifier: Apache-2.0
// The launcher's connections to its agents.
#include "tool/hosts/agent_connections.hpp"

#include <sys/epoll.h>

#include <array>
#include <utility>

#include "join/launch/launcher_connection.hpp"
#include "join/net/watch.hpp"

namespace nacre::tool {
namespace {

constexpr std::uint64_t listener_tag = ~std::uint64_t{0};
constexpr std::size_t reads_per_call = 16;

}  // namespace

agent_connections::agent_connections(std::uint32_t hosts, net::unique_fd listening_socket)
    : events_(::epoll_create1(EPOLL_CLOEXEC)),
      address_(net::address::of_own_end(listening_socket.get()).text()),
      secret_(job_secret::generate()),
      listener_(std::move(listening_socket), secret_, launch::control_identity(hosts, hosts),
                net::refusal_log("nacre run:")),
      connections_(hosts) {
  net::watch({.events = events_.get(), .descriptor = listener_.descriptor(), .tag = listener_tag}, EPOLL_CTL_ADD);
}

void agent_connections::poll(time_point now, std::vector<agent_report>& reports) {
  std::vector<net::peer_candidate> candidates;
  listener_.poll(now, candidates);
  for (net::peer_candidate& candidate : candidates) {
    const std::uint32_t host = candidate.identity.rank.value();  // the handshake has checked that it is in range
    connection& place = connections_[host];
    if (place.heard) {
      listener_.refuse(candidate, "its host has an agent already", now);
      continue;
    }
    place.socket = std::move(candidate.socket);
    place.stream = {};
    place.stream.received(candidate.leftover);
    net::watch({.events = events_.get(), .descriptor = place.socket.get(), .tag = host}, EPOLL_CTL_ADD);
    serve(host, reports);
  }
  std::array<epoll_event, 64> ready;
  const int count = ::epoll_wait(events_.get(), ready.data(), ready.size(), 0);
  for (int i = 0; i < count; ++i) {
    const std::uint64_t tag = ready[static_cast<std::size_t>(i)].data.u64;
    if (tag != listener_tag) serve(static_cast<std::uint32_t>(tag), reports);
  }
  if (heard_ == connections_.size()) listener_.job_begins(now);
}

void agent_connections::serve(std::uint32_t host, std::vector<agent_report>& reports) {
  connection& from = connections_[host];
  if (!from.socket) return;
  flush(host);
  std::array<std::byte, 16 * 1024> buffer;
  std::ptrdiff_t received = 1;
  for (std::size_t reads = 0; reads < reads_per_call && received > 0; ++reads) {
    received = net::receive_some(from.socket.get(), buffer.data(), buffer.size());
    if (received > 0) from.stream.received(std::span(buffer.data(), static_cast<std::size_t>(received)));
  }
  auto m = from.stream.pop();
  for (; m && *m; m = from.stream.pop()) {
    if (!std::exchange(from.heard, true)) ++heard_;
    reports.push_back({.host = host, .what = std::move(**m)});
  }
  if (m && received >= 0) return;
  from.socket.reset();
  if (!m || from.heard) reports.push_back({.host = host, .what = std::nullopt});
}

void agent_connections::send(std::uint32_t host, const host_message& m) {
  if (!connections_[host].socket) return;
  connections_[host].stream.push(m);
  flush(host);
}

void agent_connections::flush(std::uint32_t host) {
  connection& to = connections_[host];
  bool moved = false;
  while (!to.stream.outgoing().empty()) {
    const auto bytes = to.stream.outgoing();
    const std::ptrdiff_t sent = net::send_some(to.socket.get(), bytes.data(), bytes.size());
    if (sent <= 0) break;  // serve sees the error when it reads
    to.stream.sent(static_cast<std::size_t>(sent));
    moved = true;
  }
  const bool more = !to.stream.outgoing().empty();
  if (!moved && !more) return;
  net::watch({.events = events_.get(), .descriptor = to.socket.get(), .tag = host, .to_write = more}, EPOLL_CTL_MOD);
}

}  // namespace nacre::tool
