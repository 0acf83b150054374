// SPDX-License-Identifier: Apache-2.0
// The fabrics of the backend udp: all ranks in one process for tests, or the endpoint of one rank of a job.
#include "transport/udp/fabric.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include <nacre/assert.hpp>

#include "join/net/descriptors.hpp"
#include "join/net/liveness_sockets.hpp"
#include "join/net/refusal_log.hpp"
#include "transport/udp/endpoint.hpp"
#include "transport/udp/peer_exchange.hpp"

namespace nacre::transport::udp {
namespace {

constexpr std::size_t descriptors_per_peer = 2;

std::unique_ptr<endpoint> connect_by_datagrams(const peer_exchange& how_to_meet,
                                               std::vector<std::optional<net::peer_candidate>> candidates,
                                               std::shared_ptr<launch::launcher_connection> launcher,
                                               const settings& settings) {
  auto peers = exchange_with_peers(how_to_meet, std::move(candidates));
  const auto any = std::find_if(peers.begin(), peers.end(), [](const auto& each) { return each.has_value(); });
  if (launcher != nullptr && how_to_meet.rank == rank_id(0) && any != peers.end()) {
    const std::string line = line_of_small_buffer(settings.receive_buffer_bytes, (*any)->socket.buffer_bytes());
    if (!line.empty()) net::write_error_line(line);
  }
  auto result = std::make_unique<udp_endpoint>(endpoint_parts{.rank = how_to_meet.rank,
                                                              .peers = std::move(peers),
                                                              .launcher = std::move(launcher),
                                                              .output_bytes_max = settings.output_bytes_max,
                                                              .silence_max = settings.silence_max});
  result->wait_for_peers(how_to_meet.deadline);
  return result;
}

}  // namespace

local_fabric::local_fabric(std::uint32_t ranks, const settings& settings)
    : in_process_fabric(ranks), settings_(settings), secret_(job_secret::generate()) {
  net::allow_descriptors(descriptors_per_peer * ranks * ranks, "start fewer ranks");
  liveness_sockets_ = net::make_liveness_sockets(ranks);
}

std::unique_ptr<endpoint> local_fabric::open(rank_id rank) {
  NACRE_EXPECT(rank.value() < size(), "no such rank");
  std::vector<net::unique_fd>& liveness_sockets = liveness_sockets_[rank.value()];
  NACRE_EXPECT(!liveness_sockets.empty(), "a rank is opened once");
  std::vector<std::optional<net::peer_candidate>> candidates(size());
  for (std::uint32_t peer = 0; peer < size(); ++peer) {
    if (peer != rank.value()) candidates[peer].emplace().socket = std::move(liveness_sockets[peer]);
  }
  liveness_sockets.clear();
  return connect_by_datagrams({.rank = rank,
                               .secret = secret_,
                               .launcher = nullptr,
                               .deadline = std::chrono::steady_clock::now() + settings_.join.connect_timeout,
                               .mtu = settings_.mtu,
                               .receive_buffer_bytes = settings_.receive_buffer_bytes,
                               .lose = settings_.lose},
                              std::move(candidates), nullptr, settings_);
}

std::unique_ptr<endpoint> endpoint_of(launch::joined_rank rank, const settings& settings) {
  auto candidates = rank.take_first_candidates();
  net::allow_descriptors(descriptors_per_peer * candidates.size(), "start fewer ranks");
  return connect_by_datagrams({.rank = rank.self.rank,
                               .secret = rank.secret,
                               .launcher = rank.launcher.get(),
                               .deadline = rank.deadline,
                               .mtu = settings.mtu,
                               .receive_buffer_bytes = settings.receive_buffer_bytes,
                               .lose = settings.lose},
                              std::move(candidates), rank.launcher, settings);
}

}  // namespace nacre::transport::udp
