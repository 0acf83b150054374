// SPDX-License-Identifier: Apache-2.0
// Connects to a rank of a job as another rank of the job does, for tests.
#pragma once

#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include "join/net/call.hpp"
#include "transport/tcp/fabric.hpp"

namespace nacre::transport::tcp {

inline constexpr std::chrono::seconds member_patience{30};

inline peer_identity identity_of(const local_fabric& job, std::uint32_t rank) {
  peer_identity identity;
  identity.rank = rank_id(rank);
  identity.size = job.size();
  identity.connections = channel_count;
  return identity;
}

/// Connects to rank 0 and authenticates with the secret.
inline expected<net::peer_candidate, refusal> call_rank_zero(const local_fabric& job, peer_identity peer_identity) {
  return net::call(*net::address::parse(job.address_of(rank_id(0))),
                   {.secret = job.secret(), .local = std::move(peer_identity)},
                   std::chrono::steady_clock::now() + member_patience);
}

/// All three connections of a rank 1 to rank 0; empty when one was refused.
inline std::vector<net::unique_fd> connect_as_rank_one(const local_fabric& job) {
  std::vector<net::unique_fd> sockets;
  peer_identity peer_identity = identity_of(job, 1);
  for (; peer_identity.connection < channel_count; ++peer_identity.connection) {
    auto outcome = call_rank_zero(job, peer_identity);
    if (!outcome) return {};
    sockets.push_back(std::move(outcome->socket));
  }
  return sockets;
}

}  // namespace nacre::transport::tcp
