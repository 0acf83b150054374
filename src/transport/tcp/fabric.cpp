// SPDX-License-Identifier: Apache-2.0
// The fabrics of the backend tcp: all ranks in one process for tests, or one rank of a job that a launcher has started.
#include "transport/tcp/fabric.hpp"

#include <utility>

#include <fmt/format.h>

#include <nacre/assert.hpp>

#include "transport/launch/control_line.hpp"
#include "transport/net/descriptors.hpp"
#include "transport/net/door.hpp"
#include "transport/net/interface.hpp"
#include "transport/tcp/endpoint.hpp"
#include "wire/binary_fingerprint.hpp"

namespace nacre::transport::tcp {
namespace {

net::refusal_log log_of(rank_id rank, net::line_sink sink) {
  return net::refusal_log(fmt::format("nacre: rank {}", rank.value()), std::move(sink));
}

std::unique_ptr<endpoint> endpoint_of(arrival what, const settings& how) {
  return std::make_unique<tcp_endpoint>(endpoint_parts{.rank = what.self.rank,
                                                       .guests = std::move(what.guests),
                                                       .connections = how.connections,
                                                       .entrance = std::move(what.entrance),
                                                       .line = std::move(what.line),
                                                       .output_bytes_max = how.output_bytes_max});
}

/// A rank that listens, before it has met anybody.
struct newcomer {
  rank_id rank;
  std::uint32_t size;
  const job_secret& secret;
  const std::vector<std::string>& addresses;
  net::unique_fd listener;
  std::unique_ptr<launch::control_line> line;  // null: no launcher of Nacre
  net::time_point deadline;
};

arrival meet(newcomer who, const settings& how, const std::string& note) {
  peer_identity local;
  local.rank = who.rank;
  local.size = who.size;
  local.binary = binary_fingerprint();
  local.address = who.addresses[who.rank.value()] + (note.empty() ? "" : "/" + note);
  local.handlers = how.handlers;
  local.connections = static_cast<std::uint8_t>(how.connections);
  auto entrance =
      std::make_unique<net::door>(std::move(who.listener), who.secret, local, log_of(who.rank, net::write_error_line));
  auto guests = launch::meet_all({.secret = who.secret,
                                  .local = local,
                                  .addresses = who.addresses,
                                  .entrance = *entrance,
                                  .line = who.line.get(),
                                  .deadline = who.deadline,
                                  .wanted = [&](const peer_identity& peer) {
                                    return !note.empty() && note_of(peer) == note ? 1 : how.connections;
                                  }});
  return {.self = std::move(local),
          .guests = std::move(guests),
          .entrance = std::move(entrance),
          .line = std::move(who.line),
          .deadline = who.deadline};
}

void allow_connections(std::size_t peers, const settings& how) {
  net::allow_descriptors(peers * how.connections, "make fewer with --nacre.tcp.sockets=1");
}

}  // namespace

std::string_view note_of(const peer_identity& peer) noexcept {
  const std::string_view text = peer.address;
  const std::size_t slash = text.find('/');
  return slash == std::string_view::npos ? std::string_view() : text.substr(slash + 1);
}

local_fabric::local_fabric(std::uint32_t ranks, const settings& how, net::line_sink log)
    : settings_(how), log_(std::move(log)), secret_(job_secret::generate()) {
  allow_connections(std::size_t{ranks} * ranks, how);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    local_ranks_.emplace_back(rank);
    listeners_.push_back(net::listen_at(net::address::any_port_of_loopback()));
    addresses_.push_back(net::address::of_own_end(listeners_.back().get()).text());
  }
}

std::unique_ptr<endpoint> local_fabric::open(rank_id rank) {
  NACRE_EXPECT(rank.value() < size(), "no such rank");
  NACRE_EXPECT(listeners_[rank.value()], "a rank is opened once");
  peer_identity local;
  local.rank = rank;
  local.size = size();
  local.address = addresses_[rank.value()];
  local.connections = static_cast<std::uint8_t>(settings_.connections);
  auto entrance = std::make_unique<net::door>(std::move(listeners_[rank.value()]), secret_, local, log_of(rank, log_));
  const auto deadline = std::chrono::steady_clock::now() + settings_.connect_timeout;
  auto guests = launch::meet_all({.secret = secret_,
                                  .local = local,
                                  .addresses = addresses_,
                                  .entrance = *entrance,
                                  .line = nullptr,
                                  .deadline = deadline});
  return endpoint_of({.self = std::move(local),
                      .guests = std::move(guests),
                      .entrance = std::move(entrance),
                      .line = nullptr,
                      .deadline = deadline},
                     settings_);
}

job_fabric::job_fabric(launch::job_ticket ticket, const settings& how) : settings_(how), ticket_(std::move(ticket)) {}

arrival arrive(const launch::job_ticket& ticket, const settings& how, const std::string& note) {
  allow_connections(ticket.size, how);
  const auto deadline = std::chrono::steady_clock::now() + how.connect_timeout;
  auto line = std::make_unique<launch::control_line>(ticket, deadline);
  net::unique_fd listener =
      net::listen_at(how.interface.empty() ? line->own_address().at_any_port() : net::own_interface(how.interface));
  // The listener is open before the others learn its address: who calls early waits in its queue.
  const std::vector<std::string> addresses =
      line->exchange_addresses(net::address::of_own_end(listener.get()).text(), deadline);
  return meet({.rank = ticket.rank,
               .size = ticket.size,
               .secret = ticket.secret,
               .addresses = addresses,
               .listener = std::move(listener),
               .line = std::move(line),
               .deadline = deadline},
              how, note);
}

arrival arrive(launch::pmix_job& job, const settings& how, const std::string& note) {
  allow_connections(job.size(), how);
  const auto deadline = std::chrono::steady_clock::now() + how.connect_timeout;
  const bool one_host = job.ranks_on_host() == job.size();
  net::unique_fd listener = net::listen_at(one_host && how.interface.empty() ? net::address::any_port_of_loopback()
                                                                             : net::own_interface(how.interface));
  const launch::pmix_job::introduction all = job.exchange(net::address::of_own_end(listener.get()).text(), deadline);
  return meet({.rank = job.rank(),
               .size = job.size(),
               .secret = all.secret,
               .addresses = all.addresses,
               .listener = std::move(listener),
               .line = nullptr,
               .deadline = deadline},
              how, note);
}

std::unique_ptr<endpoint> job_fabric::open(rank_id rank) {
  NACRE_EXPECT(rank == ticket_.rank, "the launcher has given this process another rank");
  return endpoint_of(arrive(ticket_, settings_), settings_);
}

std::unique_ptr<endpoint> pmix_fabric::open(rank_id rank) {
  NACRE_EXPECT(rank == rank_, "the launcher has given this process another rank");
  return endpoint_of(arrive(job_, settings_), settings_);
}

}  // namespace nacre::transport::tcp
