// SPDX-License-Identifier: Apache-2.0
// The fabrics of the backend tcp: all ranks in one process for tests, or one rank of a job that a launcher has started.
#include "transport/tcp/fabric.hpp"

#include <utility>

#include <fmt/format.h>

#include <nacre/assert.hpp>

#include "transport/launch/control_line.hpp"
#include "transport/net/door.hpp"
#include "transport/net/interface.hpp"
#include "transport/tcp/endpoint.hpp"
#include "transport/tcp/meeting.hpp"
#include "wire/binary_fingerprint.hpp"

namespace nacre::transport::tcp {
namespace {

net::refusal_log log_of(rank_id rank, net::line_sink sink) {
  return net::refusal_log(fmt::format("nacre: rank {}", rank.value()), std::move(sink));
}

std::unique_ptr<endpoint> endpoint_of(arrival what, const settings& how) {
  return std::make_unique<tcp_endpoint>(endpoint_parts{.rank = what.self.rank,
                                                       .guests = std::move(what.guests),
                                                       .entrance = std::move(what.entrance),
                                                       .line = std::move(what.line),
                                                       .output_bytes_max = how.output_bytes_max});
}

peer_identity identity_of(rank_id rank, std::uint32_t size, const std::string& where, const std::string& note) {
  peer_identity local;
  local.rank = rank;
  local.size = size;
  local.binary = binary_fingerprint();
  local.address = note.empty() ? where : where + "/" + note;
  return local;
}

}  // namespace

local_fabric::local_fabric(std::uint32_t ranks, const settings& how, net::line_sink log)
    : settings_(how), log_(std::move(log)), secret_(job_secret::generate()) {
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
  auto entrance = std::make_unique<net::door>(std::move(listeners_[rank.value()]), secret_, local, log_of(rank, log_));
  const auto deadline = std::chrono::steady_clock::now() + settings_.connect_timeout;
  auto guests = meet({.secret = secret_,
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
  const auto deadline = std::chrono::steady_clock::now() + how.connect_timeout;
  auto line = std::make_unique<launch::control_line>(ticket, deadline);
  net::unique_fd listener =
      net::listen_at(how.interface.empty() ? line->own_address().at_any_port() : net::own_interface(how.interface));
  const std::string where = net::address::of_own_end(listener.get()).text();
  peer_identity local = identity_of(ticket.rank, ticket.size, where, note);
  // The listener is open before the others learn its address: who calls early waits in its queue.
  const std::vector<std::string> addresses = line->exchange_addresses(where, deadline);
  auto entrance = std::make_unique<net::door>(std::move(listener), ticket.secret, local,
                                              log_of(ticket.rank, net::write_error_line));
  auto guests = meet({.secret = ticket.secret,
                      .local = local,
                      .addresses = addresses,
                      .entrance = *entrance,
                      .line = line.get(),
                      .deadline = deadline});
  return {.self = std::move(local),
          .guests = std::move(guests),
          .entrance = std::move(entrance),
          .line = std::move(line),
          .deadline = deadline};
}

arrival arrive(launch::pmix_job& job, const settings& how, const std::string& note) {
  const auto deadline = std::chrono::steady_clock::now() + how.connect_timeout;
  const bool one_host = job.ranks_on_host() == job.size();
  net::unique_fd listener = net::listen_at(one_host && how.interface.empty() ? net::address::any_port_of_loopback()
                                                                             : net::own_interface(how.interface));
  const std::string where = net::address::of_own_end(listener.get()).text();
  peer_identity local = identity_of(job.rank(), job.size(), where, note);
  const launch::pmix_job::introduction all = job.exchange(where, deadline);
  auto entrance =
      std::make_unique<net::door>(std::move(listener), all.secret, local, log_of(job.rank(), net::write_error_line));
  auto guests = meet({.secret = all.secret,
                      .local = local,
                      .addresses = all.addresses,
                      .entrance = *entrance,
                      .line = nullptr,
                      .deadline = deadline});
  return {.self = std::move(local),
          .guests = std::move(guests),
          .entrance = std::move(entrance),
          .line = nullptr,
          .deadline = deadline};
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
