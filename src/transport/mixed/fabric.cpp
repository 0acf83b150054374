// SPDX-License-Identifier: Apache-2.0
// The fabrics of the backend auto: for each pair of ranks shared memory when they share a host, otherwise sockets.
#include "transport/mixed/fabric.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <utility>
#include <vector>

#include "transport/mixed/endpoint.hpp"

namespace nacre::transport::mixed {
namespace {

std::unique_ptr<endpoint> endpoint_among(launch::arrival here, const settings& how) {
  const auto size = static_cast<std::uint32_t>(here.guests.size());
  const std::shared_ptr<launch::control_line> line = here.line;
  std::vector<bool> is_near(size);
  std::vector<std::optional<net::guest>> neighbours(size);
  for (std::uint32_t peer = 0; peer < size; ++peer) {
    launch::guests_of_rank& guests = here.guests[peer];
    is_near[peer] = guests.empty() || launch::note_of(guests.front().identity) == how.host;  // the own place is empty
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
  auto far = tcp::endpoint_of(std::move(here), how.far);
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

std::unique_ptr<endpoint> local_fabric::open(rank_id rank) {
  std::vector<bool> is_near;
  for (std::uint32_t peer = 0; peer < size(); ++peer) is_near.push_back(peer % 2 == rank.value() % 2);
  auto far = far_.open(rank);  // blocks until all are there
  return std::make_unique<mixed_endpoint>(near_.open(rank), std::move(far), std::move(is_near));
}

std::unique_ptr<fabric> join_job(settings how) {
  if (how.host.empty()) how.host = own_host();
  how.far.way.note = how.host;
  return std::make_unique<launch::member_fabric>(
      how.far.way, [how](launch::arrival here) { return endpoint_among(std::move(here), how); });
}

}  // namespace nacre::transport::mixed
