// SPDX-License-Identifier: Apache-2.0
// The control server, the launcher's side: ranks join there, report failures, and are told of the job's end.
#include "join/launch/control_server.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <utility>

#include "join/launch/launcher_connection.hpp"
#include "join/net/watch.hpp"

namespace nacre::launch {
namespace {

constexpr std::uint64_t listener_tag = ~std::uint64_t{0};

}  // namespace

control_server::control_server(std::uint32_t size, const job_secret& secret, const net::address& at)
    : control_server(size, secret, net::listen_at(at)) {}

control_server::control_server(std::uint32_t size, const job_secret& secret, net::unique_fd listening_socket)
    : events_(::epoll_create1(EPOLL_CLOEXEC)),
      address_(net::address::of_own_end(listening_socket.get()).text()),
      listener_(std::move(listening_socket), secret, control_identity(size, size), net::refusal_log("nacre run:")),
      connections_(size) {
  net::watch({.events = events_.get(), .descriptor = listener_.descriptor(), .tag = listener_tag}, EPOLL_CTL_ADD);
}

void control_server::poll(net::time_point now, std::vector<report>& reports) {
  std::vector<net::peer_candidate> candidates;
  listener_.poll(now, candidates);
  for (net::peer_candidate& candidate : candidates) {
    if (admit(candidate, now)) serve(candidate.identity.rank.value(), reports);
  }
  if (complete_) listener_.job_begins(now);

  std::array<epoll_event, 64> ready;
  int count = 0;
  do {
    count = ::epoll_wait(events_.get(), ready.data(), ready.size(), 0);
    for (int i = 0; i < count; ++i) {
      const std::uint64_t tag = ready[static_cast<std::size_t>(i)].data.u64;
      if (tag != listener_tag) serve(static_cast<std::uint32_t>(tag), reports);
    }
  } while (count == static_cast<int>(ready.size()));
}

bool control_server::admit(net::peer_candidate& candidate, net::time_point now) {
  const std::uint32_t rank = candidate.identity.rank.value();  // below size: the handshake has checked it
  connection& place = connections_[rank];
  if (!place.address.empty()) {
    listener_.refuse(candidate, "it says it is rank " + std::to_string(rank) + ", which has joined already", now);
    return false;
  }
  place.socket = std::move(candidate.socket);
  place.stream = {};
  place.stream.received(candidate.leftover);
  net::watch({.events = events_.get(), .descriptor = place.socket.get(), .tag = rank}, EPOLL_CTL_ADD);
  if (announced_) place.stream.push(*announced_);
  return true;
}

void control_server::serve(std::uint32_t rank, std::vector<report>& reports) {
  connection& from = connections_[rank];
  if (!from.socket) return;
  send(rank);
  const bool alive = receive(from);
  const bool sound = interpret(rank, reports);
  if (alive && sound) return;
  from.socket.reset();
  const bool may_call_again = sound && from.address.empty();
  if (!from.left && !may_call_again) reports.push_back({.from = rank_id(rank), .what = hung_up{}});
}

bool control_server::receive(connection& from) {
  std::array<std::byte, 4096> buffer;
  for (;;) {
    const std::ptrdiff_t received = net::receive_some(from.socket.get(), buffer.data(), buffer.size());
    if (received <= 0) return received == 0;
    from.stream.received(std::span(buffer.data(), static_cast<std::size_t>(received)));
  }
}

bool control_server::interpret(std::uint32_t rank, std::vector<report>& reports) {
  connection& from = connections_[rank];
  for (;;) {
    auto m = from.stream.pop();
    if (!m) return false;
    if (!*m) return true;
    if (auto* own = std::get_if<joined>(&**m)) {
      if (!from.address.empty() || !net::address::parse(own->address)) return false;
      from.address = own->address;
      reports.push_back({.from = rank_id(rank), .what = std::move(*own)});
      send_roster_when_complete();
    } else if (auto* trouble = std::get_if<lost>(&**m)) {
      if (trouble->peer >= connections_.size()) return false;
      if (!complete_) trouble->peer = first_missing(rank);
      reports.push_back({.from = rank_id(rank), .what = std::move(*trouble)});
    } else if (std::holds_alternative<left>(**m)) {
      from.left = true;
      reports.push_back({.from = rank_id(rank), .what = left{}});
    } else {
      return false;
    }
  }
}

std::uint32_t control_server::first_missing(std::uint32_t otherwise) const noexcept {
  for (std::uint32_t rank = 0; rank < connections_.size(); ++rank) {
    if (connections_[rank].address.empty()) return rank;
  }
  return otherwise;
}

void control_server::send(std::uint32_t rank) {
  connection& to = connections_[rank];
  while (to.socket && !to.stream.outgoing().empty()) {
    const auto bytes = to.stream.outgoing();
    const std::ptrdiff_t sent = net::send_some(to.socket.get(), bytes.data(), bytes.size());
    if (sent <= 0) break;  // an error shows again when the connection is read
    to.stream.sent(static_cast<std::size_t>(sent));
  }
  if (!to.socket) return;
  const bool more = !to.stream.outgoing().empty();
  net::watch({.events = events_.get(), .descriptor = to.socket.get(), .tag = rank, .to_write = more}, EPOLL_CTL_MOD);
}

void control_server::send_roster_when_complete() {
  roster all;
  for (const connection& each : connections_) {
    if (each.address.empty()) return;
    all.addresses.push_back(each.address);
  }
  complete_ = true;
  for (std::uint32_t rank = 0; rank < connections_.size(); ++rank) {
    if (!connections_[rank].socket) continue;
    connections_[rank].stream.push(all);
    send(rank);
  }
}

void control_server::announce(const aborted& why) {
  announced_ = why;
  for (std::uint32_t rank = 0; rank < connections_.size(); ++rank) {
    if (!connections_[rank].socket) continue;
    connections_[rank].stream.push(why);
    send(rank);
  }
}

}  // namespace nacre::launch
