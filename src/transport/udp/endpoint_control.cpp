// SPDX-License-Identifier: Apache-2.0
// Control beside the data path over datagrams: the begin and the end of the job, failures, the launcher connection.
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <nacre/error.hpp>

#include "transport/udp/endpoint.hpp"

namespace nacre::transport::udp {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// The bytes on a liveness socket: a rank is ready, it leaves, it asks whether the peer polls, it answers.
constexpr std::uint8_t ready_sign = 1, shutdown_sign = 2, question_sign = 3, answer_sign = 4;

constexpr std::string_view no_path =
    "gets no datagrams any more, or none comes back, though it answers otherwise: a firewall may have forgotten them "
    "(let UDP pass between the hosts, or use --transport tcp)";

constexpr milliseconds look_again{1};
constexpr std::chrono::seconds last_sign_max{5};  // until the hosts of the peers have taken the shutdown

/// Whether the peer's host has not acknowledged all bytes of a stream. Ranks of one process have none to lose.
bool on_its_way(int stream) noexcept {
  int domain = 0;
  int left = 0;
  socklen_t bytes = sizeof domain;
  if (::getsockopt(stream, SOL_SOCKET, SO_DOMAIN, &domain, &bytes) != 0 || domain == AF_UNIX) return false;
  return ::ioctl(stream, SIOCOUTQ, &left) == 0 && left > 0;
}

[[noreturn]] void throw_apart(rank_id own_rank, std::uint32_t peer, const std::string& name,
                              const std::string& remedy) {
  throw setup_error({.problem = fmt::format("rank {} and rank {} do not reach each other by datagrams: {}",
                                            own_rank.value(), peer, name),
                     .why = "a job begins when all ranks are connected",
                     .remedy = remedy});
}

}  // namespace

std::optional<std::uint32_t> udp_endpoint::find_peer(bool (*lacks)(const peer&)) const {
  for (std::uint32_t rank = 0; rank < size(); ++rank) {
    if (peers_[rank] != nullptr && lacks(*peers_[rank])) return rank;
  }
  return std::nullopt;
}

/// Polls until no peer lacks it, and keeps the messages that arrive, since a peer may have begun before.
void udp_endpoint::join_until(bool (*lacks)(const peer&), net::time_point deadline, std::string_view name) {
  while (const auto missing = find_peer(lacks)) {
    message_list arrived;
    arrived.append(own_messages_);
    const bool moved = poll(arrived, std::size_t{1} << 16);
    own_messages_.append(arrived);
    poll_control();
    if (const failure* const first = monitor_.first_failure(); first != nullptr) {
      if (!first->peer || first->announced) throw job_aborted(describe(*first));
      throw_apart(rank_, first->peer->value(), first->reason, "look for what it has printed");
    }
    if (steady_clock::now() >= deadline) {
      throw_apart(rank_, *missing, std::string(name),
                  "let UDP pass between the hosts, try --nacre.udp.mtu=1280, or use --transport tcp");
    }
    if (!moved) wait(look_again);
  }
}

/// Pings show that full datagrams pass in both directions. When all ranks have said that they are ready, no rank
/// depends on another's polling any more.
void udp_endpoint::wait_for_peers(net::time_point deadline) {
  const time_point now = steady_clock::now();
  for (const auto& each : peers_) {
    if (each == nullptr) continue;
    each->parts.link.ping();
    let_leave(*each, now);
  }
  join_until([](const peer& p) { return p.now == peer::state::present && !p.parts.link.all_acknowledged(); }, deadline,
             "none comes through in time");
  send_sign_to_all(ready_sign);
  join_until([](const peer& p) { return p.now == peer::state::present && !p.ready; }, deadline,
             "it is not ready in time");
  if (!own_messages_.empty()) flags_.note_own();
}

void udp_endpoint::send_sign(const peer& target, std::uint8_t sign) {
  // A stream that has carried next to nothing takes a byte at once; one that has ended tells of that by itself.
  if (target.parts.liveness_socket)
    static_cast<void>(net::send_some(target.parts.liveness_socket.get(), &sign, sizeof sign));
}

void udp_endpoint::send_sign_to_all(std::uint8_t sign) {
  for (const auto& each : peers_) {
    if (each != nullptr) send_sign(*each, sign);
  }
}

void udp_endpoint::poll_control() {
  monitor_.poll([this](std::uint32_t rank) { read_liveness_socket(rank); });
}

void udp_endpoint::read_liveness_socket(std::uint32_t rank) {
  peer& peer = *peers_[rank];
  std::uint8_t heard = 0;
  const std::ptrdiff_t got = net::receive_some(peer.parts.liveness_socket.get(), &heard, sizeof heard);
  if (got == 0) return;
  if (got > 0 && peer.now == peer::state::present && take_sign(rank, heard)) return;
  const std::string reason =
      got > 0 ? peer.now == peer::state::left ? "sent something after its shutdown" : "sent a sign that makes no sense"
      : errno == 0 ? "closed its connection without a shutdown"
                   : "cannot be reached any more: " + net::error_text(errno);
  peer.parts.liveness_socket.reset();
  if (peer.now == peer::state::present || got > 0) lose(rank, reason);
}

/// False: the peer has no reason to say that.
bool udp_endpoint::take_sign(std::uint32_t rank, std::uint8_t sign) {
  peer& peer = *peers_[rank];
  switch (sign) {
    case ready_sign:
      return !std::exchange(peer.ready, true);
    case shutdown_sign:
      on_left(peer);
      return true;
    case question_sign:
      if (!signed_off_) send_sign(peer, answer_sign);
      return true;
    case answer_sign:
      if (peer.path.on_answer(steady_clock::now())) lose(rank, no_path);
      return true;
    default:
      return false;
  }
}

/// A time-out of the connection has passed.
void udp_endpoint::watch_path(peer& peer, time_point now) {
  if (peer.now != peer::state::present || signed_off_) return;
  if (peer.path.look(!peer.parts.link.all_acknowledged(), now) == path_watch::advice::ask)
    send_sign(peer, question_sign);
}

void udp_endpoint::on_left(peer& peer) {
  peer.now = peer::state::left;
  peer.parts.link.leave();
}

void udp_endpoint::lose(std::uint32_t rank, std::string_view reason) {
  peer& peer = *peers_[rank];
  if (std::exchange(peer.now, peer::state::lost) == peer::state::lost) return;
  peer.parts.link.leave();
  if (!closing_) monitor_.report_lost(rank_id(rank), std::string(reason));
}

void udp_endpoint::close(std::chrono::nanoseconds timeout) {
  const auto deadline = steady_clock::now() + std::min<std::chrono::nanoseconds>(timeout, std::chrono::hours(1));
  closing_ = true;
  const auto unfinished = [](const peer& p) {
    return p.now == peer::state::present && !p.parts.link.all_acknowledged();
  };
  while (find_peer(unfinished) && steady_clock::now() < deadline) {
    message_list unwanted;
    if (!poll(unwanted, std::size_t{1} << 16)) wait(look_again);
    poll_control();
  }
  for (const auto& each : peers_) {
    if (each != nullptr) each->parts.link.leave();
  }
  signed_off_ = true;
  send_sign_to_all(shutdown_sign);
  monitor_.report_left();
  leave_streams(std::min(deadline, steady_clock::now() + last_sign_max));
}

/// A stream that closes with bytes that were not read takes back what is still on its way.
void udp_endpoint::leave_streams(net::time_point deadline) {
  const auto sent = [](const peer& p) { return p.parts.liveness_socket && on_its_way(p.parts.liveness_socket.get()); };
  while (find_peer(sent) && steady_clock::now() < deadline) {
    wait(look_again);
    poll_control();
  }
}

}  // namespace nacre::transport::udp
