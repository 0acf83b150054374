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

std::unique_ptr<endpoint> join(const meeting& parts, std::unique_ptr<net::door> entrance,
                               std::unique_ptr<launch::control_line> line, const settings& how) {
  auto guests = meet(parts);
  return std::make_unique<tcp_endpoint>(endpoint_parts{.rank = parts.local.rank,
                                                       .guests = std::move(guests),
                                                       .entrance = std::move(entrance),
                                                       .line = std::move(line),
                                                       .output_bytes_max = how.output_bytes_max});
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
  const meeting parts{.secret = secret_,
                      .local = local,
                      .addresses = addresses_,
                      .entrance = *entrance,
                      .line = nullptr,
                      .deadline = std::chrono::steady_clock::now() + settings_.connect_timeout};
  return join(parts, std::move(entrance), nullptr, settings_);
}

job_fabric::job_fabric(launch::job_ticket ticket, const settings& how) : settings_(how), ticket_(std::move(ticket)) {}

std::unique_ptr<endpoint> job_fabric::open(rank_id rank) {
  NACRE_EXPECT(rank == ticket_.rank, "the launcher has given this process another rank");
  const auto deadline = std::chrono::steady_clock::now() + settings_.connect_timeout;
  auto line = std::make_unique<launch::control_line>(ticket_, deadline);
  net::unique_fd listener = net::listen_at(settings_.interface.empty() ? line->own_address().at_any_port()
                                                                       : net::own_interface(settings_.interface));

  peer_identity local;
  local.rank = rank;
  local.size = ticket_.size;
  local.binary = binary_fingerprint();
  local.address = net::address::of_own_end(listener.get()).text();
  // The listener is open before the others learn its address: who calls early waits in its queue.
  const std::vector<std::string> addresses = line->exchange_addresses(local.address, deadline);
  auto entrance =
      std::make_unique<net::door>(std::move(listener), ticket_.secret, local, log_of(rank, net::write_error_line));
  const meeting parts{.secret = ticket_.secret,
                      .local = local,
                      .addresses = addresses,
                      .entrance = *entrance,
                      .line = line.get(),
                      .deadline = deadline};
  return join(parts, std::move(entrance), std::move(line), settings_);
}

std::unique_ptr<endpoint> pmix_fabric::open(rank_id rank) {
  NACRE_EXPECT(rank == rank_, "the launcher has given this process another rank");
  const auto deadline = std::chrono::steady_clock::now() + settings_.connect_timeout;
  const bool one_host = job_.ranks_on_host() == job_.size();
  net::unique_fd listener =
      net::listen_at(one_host && settings_.interface.empty() ? net::address::any_port_of_loopback()
                                                             : net::own_interface(settings_.interface));
  peer_identity local;
  local.rank = rank;
  local.size = job_.size();
  local.binary = binary_fingerprint();
  local.address = net::address::of_own_end(listener.get()).text();
  const launch::pmix_job::introduction all = job_.exchange(local.address, deadline);
  auto entrance =
      std::make_unique<net::door>(std::move(listener), all.secret, local, log_of(rank, net::write_error_line));
  const meeting parts{.secret = all.secret,
                      .local = local,
                      .addresses = all.addresses,
                      .entrance = *entrance,
                      .line = nullptr,
                      .deadline = deadline};
  return join(parts, std::move(entrance), nullptr, settings_);
}

}  // namespace nacre::transport::tcp
