// SPDX-License-Identifier: Apache-2.0
// The fabrics of the backend auto: shared memory between ranks of one host, sockets, datagrams or UCX between hosts.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "transport/shm/fabric.hpp"
#include "transport/tcp/fabric.hpp"
#include "transport/transport.hpp"
#include "transport/ucx/fabric.hpp"
#include "transport/udp/fabric.hpp"

namespace nacre::transport::auto_transport {

/// The transport that a rank prefers between hosts. Its letter travels in front of the name of the host.
enum class preference : char {
  tcp = 't',
  ucx = 'u',
  udp = 'd',
  either = 'e',    ///< the best one for all; this rank has no RDMA device that UCX could use
  with_rdma = 'r'  ///< the best one for all; this rank has an RDMA device
};

/// Whether the ranks of a job use UCX between hosts, given the preferences of all, by rank: when all want it, or when
/// all leave it open and have an RDMA device. Every rank gets the same result. Throws setup_error when the preferences
/// contradict each other.
[[nodiscard]] bool agree_on_ucx(std::span<const preference> all);

/// The configuration.
struct settings {
  tcp::settings tcp;
  ucx::settings ucx;
  udp::settings udp;
  shm::settings near;
  std::string host = "";  ///< ranks with equal names share a host; empty: own_host()
  preference far_transport = preference::either;
};

/// The name that tells hosts apart for shared memory: boot of the kernel, space of process numbers, user.
[[nodiscard]] std::string own_host();

/// All ranks in this process; those with even numbers count as one host, the others as another. Between the two it uses
/// tcp, or ucx or udp when that is wanted.
class local_fabric final : public fabric {
 public:
  local_fabric(std::uint32_t ranks, const settings& settings);

  std::uint32_t size() const noexcept override { return near_.size(); }
  std::span<const rank_id> local_ranks() const noexcept override { return near_.local_ranks(); }
  std::unique_ptr<endpoint> open(rank_id rank) override;

 private:
  shm::local_fabric near_;
  std::unique_ptr<fabric> far_;
};

/// The one rank that this process is. All ranks connect by sockets first. Those of one host then exchange their
/// segments, and the sockets between them become liveness sockets. Once all are connected, they agree upon the
/// transport between hosts.
[[nodiscard]] std::unique_ptr<fabric> join_job(settings settings);

}  // namespace nacre::transport::auto_transport
