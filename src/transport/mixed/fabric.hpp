// SPDX-License-Identifier: Apache-2.0
// The fabrics of the backend auto: for each pair of ranks shared memory when they share a host, otherwise sockets or
// UCX.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "transport/shm/fabric.hpp"
#include "transport/tcp/fabric.hpp"
#include "transport/transport.hpp"
#include "transport/ucx/fabric.hpp"

namespace nacre::transport::mixed {

/// What a rank wants to use between hosts. Its letter travels in front of the name of the host.
enum class wish : char {
  tcp = 't',
  ucx = 'u',
  either = 'e',    ///< whatever is best for all, but it has no RDMA device that UCX could use
  with_rdma = 'r'  ///< whatever is best for all, and it has one
};

/// Whether the ranks of a job talk by UCX between hosts, given the wishes of all, by rank: when all want it, or when
/// all that leave it open have an RDMA device. Every rank finds the same. Throws setup_error when they do not fit
/// together.
[[nodiscard]] bool agree_on_ucx(std::span<const wish> all);

/// What the configuration says.
struct settings {
  tcp::settings tcp;
  ucx::settings ucx;
  shm::settings near;
  std::string host = "";  ///< ranks with equal ones share a host; empty: own_host()
  wish between = wish::either;
};

/// What tells hosts apart, for shared memory: the boot of the kernel, the space of process numbers, the user.
[[nodiscard]] std::string own_host();

/// All ranks in this process; those with even numbers count as one host, the others as another. Between them tcp, or
/// ucx when that is wanted.
class local_fabric final : public fabric {
 public:
  local_fabric(std::uint32_t ranks, const settings& how);

  std::uint32_t size() const noexcept override { return near_.size(); }
  std::span<const rank_id> local_ranks() const noexcept override { return near_.local_ranks(); }
  std::unique_ptr<endpoint> open(rank_id rank) override;

 private:
  shm::local_fabric near_;
  std::unique_ptr<fabric> far_;
};

/// The one rank that this process is. All ranks meet by sockets; those of one host then exchange their segments, and
/// the sockets between them serve to notice a death. What they use between hosts they agree upon when all have met.
[[nodiscard]] std::unique_ptr<fabric> join_job(settings how);

}  // namespace nacre::transport::mixed
