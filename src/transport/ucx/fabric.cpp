// SPDX-License-Identifier: Apache-2.0
// The fabrics of the backend ucx: all ranks in one process for tests, or the endpoint of one rank of a job.
#include "transport/ucx/fabric.hpp"

#include <array>
#include <chrono>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include <nacre/assert.hpp>
#include <nacre/error.hpp>

#include "join/net/liveness_sockets.hpp"
#include "transport/ucx/address_exchange.hpp"
#include "transport/ucx/endpoint.hpp"
#include "transport/ucx/loader.hpp"
#include "wire/job_secret.hpp"

namespace nacre::transport::ucx {
namespace {

/// A rank that is connected to its peers by sockets.
struct connected_rank {
  rank_id rank;
  std::vector<std::optional<net::peer_candidate>> candidates;
  std::shared_ptr<launch::launcher_connection> launcher;
  net::time_point deadline;
};

std::unique_ptr<port> open_port(library& library, std::uint32_t ranks) {
  std::array<char, 256> text{};
  std::unique_ptr<port> result(library.open(ranks, text));
  if (result != nullptr) return result;
  throw setup_error({.problem = fmt::format("{} does not begin: {}", library.name(), text.data()),
                     .why = "transport ucx was chosen",
                     .remedy = "look at UCX_TLS and UCX_NET_DEVICES; UCX_LOG_LEVEL=info tells more"});
}

std::unique_ptr<endpoint> join(connected_rank joining, const settings& settings) {
  library& library = load_library(settings.modules);
  const auto ranks = static_cast<std::uint32_t>(joining.candidates.size());
  endpoint_parts parts{.rank = joining.rank,
                       .end = open_port(library, ranks),
                       .peers = std::vector<std::optional<peer_parts>>(ranks),
                       .launcher = joining.launcher,
                       .output_bytes_max = settings.output_bytes_max};
  std::vector<std::uint64_t> keys(ranks);
  fill_random(std::as_writable_bytes(std::span(keys)));
  const auto said =
      exchange_addresses({.rank = joining.rank, .launcher = joining.launcher.get(), .deadline = joining.deadline},
                         *parts.end, keys, joining.candidates);
  for (std::uint32_t peer = 0; peer < ranks; ++peer) {
    if (!joining.candidates[peer]) continue;
    const reach reach =
        net::joins_one_host(joining.candidates[peer]->socket.get()) ? reach::this_host : reach::elsewhere;
    for (std::uint32_t channel_index = 0; channel_index < channels_per_peer; ++channel_index) {
      if (parts.end->connect(peer, channel_index, said[peer].addresses[channel_index], reach)) continue;
      throw setup_error({.problem = fmt::format("rank {} cannot reach rank {} by UCX: {}", joining.rank.value(), peer,
                                                parts.end->error()),
                         .why = "UCX found no way between them that it can watch, too",
                         .remedy = "give all ranks the same UCX_TLS, with tcp or shm in it, or leave it to UCX"});
    }
    parts.peers[peer] = peer_parts{.liveness_socket = std::move(joining.candidates[peer]->socket),
                                   .key_here = keys[peer],
                                   .key_there = said[peer].key};
  }
  auto result = std::make_unique<ucx_endpoint>(std::move(parts));
  result->wait_for_peers(joining.deadline);
  return result;
}

}  // namespace

local_fabric::local_fabric(std::uint32_t ranks, const settings& settings)
    : in_process_fabric(ranks), settings_(settings), liveness_sockets_(net::make_liveness_sockets(ranks)) {}

std::unique_ptr<endpoint> local_fabric::open(rank_id rank) {
  NACRE_EXPECT(rank.value() < size(), "no such rank");
  std::vector<net::unique_fd>& liveness_sockets = liveness_sockets_[rank.value()];
  NACRE_EXPECT(!liveness_sockets.empty(), "a rank is opened once");
  connected_rank joining{.rank = rank,
                         .candidates = std::vector<std::optional<net::peer_candidate>>(size()),
                         .launcher = nullptr,
                         .deadline = std::chrono::steady_clock::now() + settings_.join.connect_timeout};
  for (std::uint32_t peer = 0; peer < size(); ++peer) {
    if (peer != rank.value()) joining.candidates[peer].emplace().socket = std::move(liveness_sockets[peer]);
  }
  liveness_sockets.clear();
  return join(std::move(joining), settings_);
}

std::unique_ptr<endpoint> endpoint_of(launch::joined_rank rank, const settings& settings) {
  connected_rank joining{.rank = rank.self.rank,
                         .candidates = rank.take_first_candidates(),
                         .launcher = std::move(rank.launcher),
                         .deadline = rank.deadline};
  return join(std::move(joining), settings);
}

}  // namespace nacre::transport::ucx
