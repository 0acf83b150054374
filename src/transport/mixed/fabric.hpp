// SPDX-License-Identifier: Apache-2.0
// The fabrics of the backend auto: for each pair of ranks shared memory when they share a host, otherwise sockets.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "transport/shm/fabric.hpp"
#include "transport/tcp/fabric.hpp"
#include "transport/transport.hpp"

namespace nacre::transport::mixed {

/// What the configuration says.
struct settings {
  tcp::settings far;
  shm::settings near;
  std::string host = "";  ///< ranks with equal ones share a host; empty: own_host()
};

/// What tells hosts apart, for shared memory: the boot of the kernel, the space of process numbers, the user.
[[nodiscard]] std::string own_host();

/// All ranks in this process; those with even numbers count as one host, the others as another.
class local_fabric final : public fabric {
 public:
  local_fabric(std::uint32_t ranks, const settings& how) : near_(ranks, how.near), far_(ranks, how.far) {}

  std::uint32_t size() const noexcept override { return near_.size(); }
  std::span<const rank_id> local_ranks() const noexcept override { return near_.local_ranks(); }
  std::unique_ptr<endpoint> open(rank_id rank) override;

 private:
  shm::local_fabric near_;
  tcp::local_fabric far_;
};

/// The one rank that this process is. All ranks meet by sockets; those of one host then exchange their segments, and
/// the sockets between them serve to notice a death.
[[nodiscard]] std::unique_ptr<fabric> join_job(settings how);

}  // namespace nacre::transport::mixed
