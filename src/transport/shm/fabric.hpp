// SPDX-License-Identifier: Apache-2.0
// The fabrics of the backend shm: all ranks in one process, or one rank of a job that a launcher has started.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "join/launch/member.hpp"
#include "join/net/socket.hpp"
#include "join/net/socket_handshake.hpp"
#include "transport/in_process_fabric.hpp"
#include "transport/shm/layout.hpp"
#include "transport/shm/segment.hpp"

namespace nacre::transport::shm {

/// The options of shm.
struct settings {
  launch::join_options join{.on_loopback = true};
  std::uint64_t ring_bytes = std::uint64_t{128} << 10;  ///< of data in one ring: for each sender and channel
  std::uint64_t memory_max = std::uint64_t{16} << 20;   ///< of all rings that lead to one rank
  std::size_t output_max = std::size_t{8} << 20;        ///< for each peer and channel
  bool single_copy = true;                              ///< where the kernel permits it
  std::size_t single_copy_min = std::size_t{16} << 10;
};

/// The values of the options of shm; their defaults where they are not declared.
[[nodiscard]] settings read_settings(const config& configuration);

/// The inputs for the endpoint of a rank in a job that may span several hosts. The ranks in `candidates` are on this
/// host.
struct host_parts {
  rank_id rank;
  std::vector<std::optional<net::peer_candidate>>
      candidates;  ///< by rank of the job; empty for the own one and other hosts'
  std::shared_ptr<launch::launcher_connection> launcher;  ///< null: no launcher
  net::time_point deadline;
};
/// Blocks until all ranks of this host have exchanged their segments. Throws setup_error or job_aborted.
[[nodiscard]] std::unique_ptr<endpoint> open_on_host(host_parts parts, const settings& settings);

/// All ranks in this process, which share one mapping of each segment.
class local_fabric final : public in_process_fabric {
 public:
  local_fabric(std::uint32_t ranks, const settings& settings);

  std::unique_ptr<endpoint> open(rank_id rank) override;

  /// The segment through which a rank receives.
  [[nodiscard]] segment& segment_of(rank_id rank) const noexcept { return *segments_[rank.value()]; }

 private:
  settings settings_;
  std::vector<std::shared_ptr<segment>> segments_;             // by rank
  std::vector<std::vector<net::unique_fd>> liveness_sockets_;  // by rank and peer; `open` takes its rank's
};

/// The fabric of this process's rank in a job on one host. Throws setup_error when the job has several hosts.
[[nodiscard]] std::unique_ptr<fabric> join_job(const settings& settings);

}  // namespace nacre::transport::shm
