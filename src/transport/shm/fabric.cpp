// SPDX-License-Identifier: Apache-2.0
// The fabrics of the backend shm: all ranks in one process, or one rank of a job that a launcher has started.
#include "transport/shm/fabric.hpp"

#include <unistd.h>

#include <utility>

#include <fmt/format.h>

#include <nacre/assert.hpp>
#include <nacre/error.hpp>

#include "join/net/liveness_sockets.hpp"
#include "transport/member_fabric.hpp"
#include "transport/shm/endpoint.hpp"
#include "transport/shm/process_memory.hpp"
#include "transport/shm/segment_exchange.hpp"

namespace nacre::transport::shm {
namespace {

geometry geometry_of(std::uint32_t ranks, const settings& settings) {
  if (ranks > ranks_max) {
    throw setup_error({.problem = fmt::format("{} ranks of one host are more than shared memory connects", ranks),
                       .why = "every rank has rings for every other",
                       .remedy = fmt::format("start at most {} on a host, or use --nacre.transport=tcp", ranks_max)});
  }
  return geometry::fitting(ranks, settings.ring_bytes, settings.memory_max);
}

writer_limits limits_of(const settings& settings) noexcept {
  return {.held_bytes_max = settings.output_max, .fetch_bytes_min = settings.single_copy_min};
}

void check_one_host(std::uint32_t ranks_on_host, std::uint32_t ranks) {
  if (ranks_on_host == ranks) return;
  throw setup_error({.problem = fmt::format("{} of {} ranks run on this host", ranks_on_host, ranks),
                     .why = "the transport shm does not leave a host",
                     .remedy = "choose --nacre.transport=auto"});
}

}  // namespace

local_fabric::local_fabric(std::uint32_t ranks, const settings& settings)
    : in_process_fabric(ranks), settings_(settings), liveness_sockets_(net::make_liveness_sockets(ranks)) {
  const geometry sizes = geometry_of(ranks, settings);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    segments_.push_back(std::make_shared<segment>(segment::create(sizes)));
  }
}

std::unique_ptr<endpoint> local_fabric::open(rank_id rank) {
  NACRE_EXPECT(rank.value() < size(), "no such rank");
  std::vector<net::unique_fd>& liveness_sockets = liveness_sockets_[rank.value()];
  NACRE_EXPECT(!liveness_sockets.empty(), "a rank is opened once");
  endpoint_parts parts{.rank = rank,
                       .own_segment = segments_[rank.value()],
                       .peers = std::vector<std::optional<peer_parts>>(size()),
                       .launcher = nullptr,
                       .limits = limits_of(settings_)};
  std::uint64_t local_count = 1;
  const auto address = reinterpret_cast<std::uint64_t>(&local_count);
  std::byte seen{0};
  const bool can_fetch = settings_.single_copy && read_memory(::getpid(), address, &seen, 1);
  const bool can_copy = can_fetch && can_copy_directly(::getpid(), address, local_count);
  for (std::uint32_t peer = 0; peer < size(); ++peer) {
    if (peer == rank.value()) continue;
    parts.peers[peer] = peer_parts{.theirs = segments_[peer],
                                   .liveness_socket = std::move(liveness_sockets[peer]),
                                   .process = ::getpid(),
                                   .fetch_from = can_fetch ? ::getpid() : 0,
                                   .can_copy = can_copy};
  }
  liveness_sockets.clear();
  return std::make_unique<shm_endpoint>(std::move(parts));
}

std::unique_ptr<endpoint> open_on_host(host_parts parts, const settings& settings) {
  const geometry sizes = geometry_of(ranks_of_host(parts.candidates), settings);
  auto rule = std::make_shared<segment>(segment::create(sizes));
  auto peers = exchange_segments({.rank = parts.rank,
                                  .own_segment = *rule,
                                  .sizes = sizes,
                                  .single_copy = settings.single_copy,
                                  .launcher = parts.launcher.get(),
                                  .deadline = parts.deadline},
                                 std::move(parts.candidates));
  return std::make_unique<shm_endpoint>(endpoint_parts{.rank = parts.rank,
                                                       .own_segment = std::move(rule),
                                                       .peers = std::move(peers),
                                                       .launcher = std::move(parts.launcher),
                                                       .limits = limits_of(settings)});
}

std::unique_ptr<fabric> join_job(const settings& settings) {
  launch::membership membership;
  check_one_host(membership.ranks_on_host(), membership.size());
  // The listener closes with `rank`: no connection is accepted once all ranks have joined.
  return std::make_unique<member_fabric>(std::move(membership), settings.join, [settings](launch::joined_rank rank) {
    return open_on_host({.rank = rank.self.rank,
                         .candidates = rank.take_first_candidates(),
                         .launcher = std::move(rank.launcher),
                         .deadline = rank.deadline},
                        settings);
  });
}

}  // namespace nacre::transport::shm
