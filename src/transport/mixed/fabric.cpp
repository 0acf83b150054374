// SPDX-License-Identifier: Apache-2.0
// The fabrics of the backend auto: shared memory between ranks of one host, sockets or UCX between hosts.
#include "transport/mixed/fabric.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <nacre/error.hpp>

#include "transport/mixed/endpoint.hpp"

namespace nacre::transport::mixed {
namespace {

std::string note_of(const settings& how) { return static_cast<char>(how.between) + how.host; }

/// The preferences of all ranks, by rank, from their notes.
std::vector<wish> wishes_of(const launch::arrival& here) {
  std::vector<wish> result;
  for (const launch::guests_of_rank& guests : here.guests) {
    const std::string_view note = launch::note_of(guests.empty() ? here.self : guests.front().identity);
    result.push_back(static_cast<wish>(note.empty() ? '?' : note.front()));
  }
  return result;
}

std::string_view host_of(const peer_identity& peer) noexcept {
  const std::string_view note = launch::note_of(peer);
  return note.substr(std::min<std::size_t>(note.size(), 1));
}

std::unique_ptr<endpoint> endpoint_among(launch::arrival here, const settings& how) {
  const bool by_ucx = agree_on_ucx(wishes_of(here));
  const auto size = static_cast<std::uint32_t>(here.guests.size());
  const std::shared_ptr<launch::control_line> line = here.line;
  std::vector<bool> is_near(size);
  std::vector<std::optional<net::guest>> neighbours(size);
  for (std::uint32_t peer = 0; peer < size; ++peer) {
    launch::guests_of_rank& guests = here.guests[peer];
    is_near[peer] = guests.empty() || host_of(guests.front().identity) == how.host;  // the own place is empty
    if (guests.empty() || !is_near[peer]) continue;
    neighbours[peer] = std::move(guests.front());
    guests.clear();
  }
  const auto near_count = std::count(is_near.begin(), is_near.end(), true);
  const auto make_near = [&] {
    return shm::open_among({.rank = here.self.rank,
                            .size = size,
                            .guests = std::move(neighbours),
                            .line = line,
                            .deadline = here.deadline},
                           how.near);
  };
  if (near_count == size) return make_near();
  auto near = near_count > 1 ? make_near() : nullptr;
  auto far = by_ucx ? ucx::endpoint_of(std::move(here), how.ucx) : tcp::endpoint_of(std::move(here), how.tcp);
  if (near == nullptr) return far;
  return std::make_unique<mixed_endpoint>(std::move(near), std::move(far), std::move(is_near));
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

bool agree_on_ucx(std::span<const wish> all) {
  const auto open_to_both = [](wish each) { return each == wish::either || each == wish::with_rdma; };
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank] == all[0] || (open_to_both(all[rank]) && open_to_both(all[0]))) continue;
    throw setup_error({.problem = fmt::format("rank 0 and rank {} want different transports between hosts", rank),
                       .why = "all ranks of a job use the same",
                       .remedy = "give all of them the same auto.between"});
  }
  const wish wanted = open_to_both(all[0]) ? wish::with_rdma : wish::ucx;
  return std::all_of(all.begin(), all.end(), [&](wish each) { return each == wanted; });
}

local_fabric::local_fabric(std::uint32_t ranks, const settings& how) : near_(ranks, how.near) {
  if (how.between == wish::ucx) {
    far_ = std::make_unique<ucx::local_fabric>(ranks, how.ucx);
  } else {
    far_ = std::make_unique<tcp::local_fabric>(ranks, how.tcp);
  }
}

std::unique_ptr<endpoint> local_fabric::open(rank_id rank) {
  std::vector<bool> is_near;
  for (std::uint32_t peer = 0; peer < size(); ++peer) is_near.push_back(peer % 2 == rank.value() % 2);
  auto far = far_->open(rank);  // blocks until all are there
  return std::make_unique<mixed_endpoint>(near_.open(rank), std::move(far), std::move(is_near));
}

std::unique_ptr<fabric> join_job(settings how) {
  if (how.host.empty()) how.host = own_host();
  launch::way_in way = how.tcp.way;
  way.note = note_of(how);
  if (how.between == wish::ucx) way.connections = 1;
  return std::make_unique<launch::member_fabric>(
      std::move(way), [how](launch::arrival here) { return endpoint_among(std::move(here), how); });
}

}  // namespace nacre::transport::mixed
