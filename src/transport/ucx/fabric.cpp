// SPDX-License-Identifier: Apache-2.0
// The fabrics of the backend ucx: all ranks in one process for tests, or one rank of a job that a launcher has started.
#include "transport/ucx/fabric.hpp"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include <nacre/assert.hpp>
#include <nacre/error.hpp>

#include "transport/tcp/fabric.hpp"
#include "transport/ucx/endpoint.hpp"
#include "transport/ucx/introduction.hpp"
#include "wire/job_secret.hpp"

namespace nacre::transport::ucx {
namespace {

/// A rank that has met its peers over sockets.
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

std::unique_ptr<endpoint> join(newcomer who, library& by, const settings& how) {
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
    for (std::uint32_t lane = 0; lane < lane_count; ++lane) {
      if (parts.end->connect(peer, lane, said[peer].addresses[lane])) continue;
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

local_fabric::local_fabric(std::uint32_t ranks, library& by, const settings& how)
    : library_(by), settings_(how), lifelines_(ranks) {
  for (auto& each : lifelines_) each.resize(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    local_ranks_.emplace_back(rank);
    for (std::uint32_t peer = 0; peer < rank; ++peer) {
      std::array<int, 2> ends{-1, -1};
      if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) != 0) {
        throw setup_error({.problem = "cannot connect two ranks: " + net::error_text(errno),
                           .why = "each notices the end of the other by it",
                           .remedy = "raise the limit of open files (ulimit -n), or start fewer ranks"});
      }
      lifelines_[rank][peer].reset(ends[0]);
      lifelines_[peer][rank].reset(ends[1]);
    }
  }
}

std::unique_ptr<endpoint> local_fabric::open(rank_id rank) {
  NACRE_EXPECT(rank.value() < size(), "no such rank");
  std::vector<net::unique_fd>& lifelines = lifelines_[rank.value()];
  NACRE_EXPECT(!lifelines.empty(), "a rank is opened once");
  newcomer who{.rank = rank,
               .guests = std::vector<std::optional<net::guest>>(size()),
               .line = nullptr,
               .deadline = std::chrono::steady_clock::now() + settings_.connect_timeout};
  for (std::uint32_t peer = 0; peer < size(); ++peer) {
    if (peer != rank.value()) who.guests[peer].emplace().socket = std::move(lifelines[peer]);
  }
  lifelines.clear();
  return join(std::move(who), library_, settings_);
}

job_fabric::job_fabric(launch::job_ticket ticket, library& by, const settings& how)
    : library_(by), settings_(how), ticket_(std::move(ticket)), rank_(ticket_->rank) {}

job_fabric::job_fabric(library& by, const settings& how)
    : library_(by), settings_(how), pmix_(std::make_unique<launch::pmix_job>()), rank_(pmix_->rank()) {}

std::unique_ptr<endpoint> job_fabric::open(rank_id rank) {
  NACRE_EXPECT(rank == rank_, "the launcher has given this process another rank");
  const tcp::settings meeting{.connect_timeout = settings_.connect_timeout,
                              .connections = 1,
                              .interface = settings_.interface,
                              .handlers = settings_.handlers};
  tcp::arrival here = pmix_ ? tcp::arrive(*pmix_, meeting) : tcp::arrive(*ticket_, meeting);
  newcomer who{.rank = rank,
               .guests = std::vector<std::optional<net::guest>>(size()),
               .line = std::move(here.line),
               .deadline = here.deadline};
  for (std::uint32_t peer = 0; peer < size(); ++peer) {
    if (!here.guests[peer].empty()) who.guests[peer] = std::move(here.guests[peer].front());
  }
  // Nobody is let in once all are there: the door is closed at the end of this function.
  return join(std::move(who), library_, settings_);
}

}  // namespace nacre::transport::ucx
