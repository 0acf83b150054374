// SPDX-License-Identifier: Apache-2.0
// The fabrics of the backend ucx: all ranks in one process for tests, or the end of one rank of a job.
#include "transport/ucx/fabric.hpp"

#include <array>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include <nacre/assert.hpp>
#include <nacre/error.hpp>

#include "transport/net/lifelines.hpp"
#include "transport/ucx/endpoint.hpp"
#include "transport/ucx/introduction.hpp"
#include "transport/ucx/loader.hpp"
#include "wire/job_secret.hpp"

namespace nacre::transport::ucx {
namespace {

/// A rank that is connected to its peers by sockets.
struct newcomer {
  rank_id rank;
  std::vector<std::optional<net::guest>> guests;
  std::shared_ptr<launch::control_line> line;
  net::time_point deadline;
};

std::unique_ptr<port> open_port(library& by, std::uint32_t ranks) {
  std::array<char, 256> why{};
  std::unique_ptr<port> result(by.open(ranks, why));
  if (result != nullptr) return result;
  throw setup_error({.problem = fmt::format("{} does not begin: {}", by.name(), why.data()),
                     .why = "transport ucx was chosen",
                     .remedy = "look at UCX_TLS and UCX_NET_DEVICES; UCX_LOG_LEVEL=info tells more"});
}

std::unique_ptr<endpoint> join(newcomer who, const settings& how) {
  library& by = load_library(how.modules);
  const auto ranks = static_cast<std::uint32_t>(who.guests.size());
  endpoint_parts parts{.rank = who.rank,
                       .end = open_port(by, ranks),
                       .peers = std::vector<std::optional<peer_parts>>(ranks),
                       .line = who.line,
                       .output_bytes_max = how.output_bytes_max};
  std::vector<std::uint64_t> keys(ranks);
  fill_random(std::as_writable_bytes(std::span(keys)));
  const auto said =
      introduce({.rank = who.rank, .line = who.line.get(), .deadline = who.deadline}, *parts.end, keys, who.guests);
  for (std::uint32_t peer = 0; peer < ranks; ++peer) {
    if (!who.guests[peer]) continue;
    const reach where = net::joins_one_host(who.guests[peer]->socket.get()) ? reach::this_host : reach::elsewhere;
    for (std::uint32_t lane = 0; lane < lane_count; ++lane) {
      if (parts.end->connect(peer, lane, said[peer].addresses[lane], where)) continue;
      throw setup_error({.problem = fmt::format("rank {} cannot reach rank {} by UCX: {}", who.rank.value(), peer,
                                                parts.end->error()),
                         .why = "UCX found no way between them that it can watch, too",
                         .remedy = "give all ranks the same UCX_TLS, with tcp or shm in it, or leave it to UCX"});
    }
    parts.peers[peer] = peer_parts{
        .lifeline = std::move(who.guests[peer]->socket), .key_here = keys[peer], .key_there = said[peer].key};
  }
  auto result = std::make_unique<ucx_endpoint>(std::move(parts));
  result->meet(who.deadline);
  return result;
}

}  // namespace

local_fabric::local_fabric(std::uint32_t ranks, const settings& how)
    : settings_(how), lifelines_(net::make_lifelines(ranks)) {
  for (std::uint32_t rank = 0; rank < ranks; ++rank) local_ranks_.emplace_back(rank);
}

std::unique_ptr<endpoint> local_fabric::open(rank_id rank) {
  NACRE_EXPECT(rank.value() < size(), "no such rank");
  std::vector<net::unique_fd>& lifelines = lifelines_[rank.value()];
  NACRE_EXPECT(!lifelines.empty(), "a rank is opened once");
  newcomer who{.rank = rank,
               .guests = std::vector<std::optional<net::guest>>(size()),
               .line = nullptr,
               .deadline = std::chrono::steady_clock::now() + settings_.way.connect_timeout};
  for (std::uint32_t peer = 0; peer < size(); ++peer) {
    if (peer != rank.value()) who.guests[peer].emplace().socket = std::move(lifelines[peer]);
  }
  lifelines.clear();
  return join(std::move(who), settings_);
}

std::unique_ptr<endpoint> endpoint_of(launch::arrival here, const settings& how) {
  newcomer who{.rank = here.self.rank,
               .guests = here.take_first_guests(),
               .line = std::move(here.line),
               .deadline = here.deadline};
  return join(std::move(who), how);
}

}  // namespace nacre::transport::ucx
