// SPDX-License-Identifier: Apache-2.0
// The fabrics of the backend tcp: all ranks in one process for tests, or the endpoint of one rank of a job.
#include "transport/tcp/fabric.hpp"

#include <chrono>
#include <utility>

#include <fmt/format.h>

#include <nacre/assert.hpp>

#include "join/net/descriptors.hpp"
#include "join/net/listener.hpp"
#include "transport/tcp/endpoint.hpp"

namespace nacre::transport::tcp {
namespace {

net::refusal_log log_of(rank_id rank, net::line_sink sink) {
  return net::refusal_log(fmt::format("nacre: rank {}", rank.value()), std::move(sink));
}

}  // namespace

local_fabric::local_fabric(std::uint32_t ranks, const settings& settings, net::line_sink log)
    : in_process_fabric(ranks), settings_(settings), log_(std::move(log)), secret_(job_secret::generate()) {
  net::allow_descriptors(std::size_t{ranks} * ranks * settings.join.connections, "start fewer ranks");
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    listening_sockets_.push_back(net::listen_at(net::address::any_port_of_loopback()));
    addresses_.push_back(net::address::of_own_end(listening_sockets_.back().get()).text());
  }
}

std::unique_ptr<endpoint> local_fabric::open(rank_id rank) {
  NACRE_EXPECT(rank.value() < size(), "no such rank");
  NACRE_EXPECT(listening_sockets_[rank.value()], "a rank is opened once");
  peer_identity local;
  local.rank = rank;
  local.size = size();
  local.address = addresses_[rank.value()];
  local.connections = static_cast<std::uint8_t>(settings_.join.connections);
  auto listener =
      std::make_unique<net::listener>(std::move(listening_sockets_[rank.value()]), secret_, local, log_of(rank, log_));
  const auto deadline = std::chrono::steady_clock::now() + settings_.join.connect_timeout;
  auto candidates = launch::connect_all({.secret = secret_,
                                         .local = local,
                                         .addresses = addresses_,
                                         .listener = *listener,
                                         .launcher = nullptr,
                                         .deadline = deadline});
  return endpoint_of({.self = std::move(local),
                      .secret = secret_,
                      .candidates = std::move(candidates),
                      .listener = std::move(listener),
                      .launcher = nullptr,
                      .deadline = deadline},
                     settings_);
}

std::unique_ptr<endpoint> endpoint_of(launch::joined_rank rank, const settings& settings) {
  return std::make_unique<tcp_endpoint>(endpoint_parts{.rank = rank.self.rank,
                                                       .candidates = std::move(rank.candidates),
                                                       .connections = settings.join.connections,
                                                       .listener = std::move(rank.listener),
                                                       .launcher = std::move(rank.launcher),
                                                       .output_bytes_max = settings.output_bytes_max});
}

}  // namespace nacre::transport::tcp
