// SPDX-License-Identifier: Apache-2.0
// The fabrics of the backend ucx: all ranks in one process for tests, or the endpoint of one rank of a job.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "join/launch/member.hpp"
#include "join/net/socket.hpp"
#include "transport/in_process_fabric.hpp"

namespace nacre::transport::ucx {

/// The values from the configuration.
struct settings {
  launch::join_options join;                            ///< how ranks find each other, before UCX connects them
  std::size_t output_bytes_max = std::size_t{8} << 20;  ///< for each peer and channel
  std::string modules = "";                             ///< the folder of nacre_ucx.so, as in load_library
};

/// The values of the options of ucx; their defaults where they are not declared.
[[nodiscard]] settings read_settings(const config& configuration);

/// All ranks in this process. Each end must be opened in a thread of its own, because it waits for all others.
class local_fabric final : public in_process_fabric {
 public:
  local_fabric(std::uint32_t ranks, const settings& settings);

  std::unique_ptr<endpoint> open(rank_id rank) override;

 private:
  settings settings_;
  std::vector<std::vector<net::unique_fd>> liveness_sockets_;  // by rank and peer; open takes its own
};

/// The endpoint of a rank in the job that this process belongs to, over UCX to those ranks that are peer candidates.
/// The first connection with each becomes its liveness socket; no other peer is accepted any more. Blocks until all are
/// connected. Throws setup_error or job_aborted.
[[nodiscard]] std::unique_ptr<endpoint> endpoint_of(launch::joined_rank rank, const settings& settings);

}  // namespace nacre::transport::ucx
