// SPDX-License-Identifier: Apache-2.0
// The fabrics of the backend auto: shared memory between ranks of one host, sockets, datagrams or UCX between hosts.
#include "transport/auto/fabric.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <fstream>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <nacre/error.hpp>

#include "transport/auto/endpoint.hpp"
#include "transport/member_fabric.hpp"

namespace nacre::transport::auto_transport {
namespace {

std::string note_of(const settings& settings) { return static_cast<char>(settings.far_transport) + settings.host; }

/// The preferences of all ranks, by rank, from their notes.
std::vector<preference> preferences_of(const launch::joined_rank& rank) {
  std::vector<preference> result;
  for (const launch::candidates_of_rank& candidates : rank.candidates) {
    const std::string_view note = launch::note_of(candidates.empty() ? rank.self : candidates.front().identity);
    result.push_back(static_cast<preference>(note.empty() ? '?' : note.front()));
  }
  return result;
}

std::string_view host_of(const peer_identity& peer) noexcept {
  const std::string_view note = launch::note_of(peer);
  return note.substr(std::min<std::size_t>(note.size(), 1));
}

/// The end that reaches the ranks of other hosts.
std::unique_ptr<endpoint> far_endpoint_of(launch::joined_rank rank, bool by_ucx, const settings& settings) {
  if (by_ucx) return ucx::endpoint_of(std::move(rank), settings.ucx);
  if (settings.far_transport == preference::udp) return udp::endpoint_of(std::move(rank), settings.udp);
  return tcp::endpoint_of(std::move(rank), settings.tcp);
}

std::unique_ptr<endpoint> endpoint_among(launch::joined_rank rank, const settings& settings) {
  const bool by_ucx = agree_on_ucx(preferences_of(rank));
  const auto size = static_cast<std::uint32_t>(rank.candidates.size());
  const std::shared_ptr<launch::launcher_connection> launcher = rank.launcher;
  std::vector<bool> is_near(size);
  std::vector<std::optional<net::peer_candidate>> local_peers(size);
  for (std::uint32_t peer = 0; peer < size; ++peer) {
    launch::candidates_of_rank& candidates = rank.candidates[peer];
    is_near[peer] =
        candidates.empty() || host_of(candidates.front().identity) == settings.host;  // the own place is empty
    if (candidates.empty() || !is_near[peer]) continue;
    local_peers[peer] = std::move(candidates.front());
    candidates.clear();
  }
  const auto near_count = std::count(is_near.begin(), is_near.end(), true);
  const auto make_near = [&] {
    return shm::open_on_host(
        {.rank = rank.self.rank, .candidates = std::move(local_peers), .launcher = launcher, .deadline = rank.deadline},
        settings.near);
  };
  if (near_count == size) return make_near();
  auto near = near_count > 1 ? make_near() : nullptr;
  auto far = far_endpoint_of(std::move(rank), by_ucx, settings);
  if (near == nullptr) return far;
  return std::make_unique<auto_endpoint>(std::move(near), std::move(far), std::move(is_near));
}

}  // namespace

std::string own_host() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string boot;
  file >> boot;
  std::array<char, 64> space{};
  if (::readlink("/proc/self/ns/pid", space.data(), space.size() - 1) < 0) space[0] = '?';
  return boot + "," + space.data() + "," + std::to_string(::geteuid());
}

bool agree_on_ucx(std::span<const preference> all) {
  const auto open_to_both = [](preference each) { return each == preference::either || each == preference::with_rdma; };
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank] == all[0] || (open_to_both(all[rank]) && open_to_both(all[0]))) continue;
    throw setup_error({.problem = fmt::format("rank 0 and rank {} want different transports between hosts", rank),
                       .why = "all ranks of a job use the same",
                       .remedy = "give all of them the same auto.between"});
  }
  const preference wanted = open_to_both(all[0]) ? preference::with_rdma : preference::ucx;
  return std::all_of(all.begin(), all.end(), [&](preference each) { return each == wanted; });
}

local_fabric::local_fabric(std::uint32_t ranks, const settings& settings) : near_(ranks, settings.near) {
  if (settings.far_transport == preference::ucx) {
    far_ = std::make_unique<ucx::local_fabric>(ranks, settings.ucx);
  } else if (settings.far_transport == preference::udp) {
    far_ = std::make_unique<udp::local_fabric>(ranks, settings.udp);
  } else {
    far_ = std::make_unique<tcp::local_fabric>(ranks, settings.tcp);
  }
}

std::unique_ptr<endpoint> local_fabric::open(rank_id rank) {
  std::vector<bool> is_near;
  for (std::uint32_t peer = 0; peer < size(); ++peer) is_near.push_back(peer % 2 == rank.value() % 2);
  auto far = far_->open(rank);  // blocks until all are there
  return std::make_unique<auto_endpoint>(near_.open(rank), std::move(far), std::move(is_near));
}

std::unique_ptr<fabric> join_job(settings settings) {
  if (settings.host.empty()) settings.host = own_host();
  launch::join_options join = settings.tcp.join;
  join.note = note_of(settings);
  if (settings.far_transport == preference::ucx || settings.far_transport == preference::udp) join.connections = 1;
  return std::make_unique<member_fabric>(
      std::move(join), [settings](launch::joined_rank rank) { return endpoint_among(std::move(rank), settings); });
}

}  // namespace nacre::transport::auto_transport
