// SPDX-License-Identifier: Apache-2.0
// The fabrics of the backend udp: all ranks in one process for tests, or the endpoint of one rank of a job.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "join/launch/member.hpp"
#include "join/net/socket.hpp"
#include "transport/in_process_fabric.hpp"
#include "transport/udp/datagram_socket.hpp"
#include "wire/job_secret.hpp"

namespace nacre::transport::udp {

/// The values from the configuration.
struct settings {
  launch::join_options join{.time_option = "udp.connect_timeout"};  ///< how ranks find each other, over streams
  std::size_t output_bytes_max = std::size_t{8} << 20;              ///< for each peer and channel
  std::size_t receive_buffer_bytes = std::size_t{4} << 20;          ///< for each peer
  std::uint32_t mtu = 0;                                            ///< 0: what the route carries
  std::chrono::nanoseconds silence_max = std::chrono::seconds(20);  ///< see path_watch
  datagram_socket::loss lose = {};  ///< for tests, by no option: whether the path loses the next datagram
};

/// The values of the options of udp; their defaults where they are not declared. Throws setup_error.
[[nodiscard]] settings read_settings(const config& configuration);

/// All ranks in this process, over the loopback interface. Each end must be opened in a thread of its own, because it
/// waits for all others.
class local_fabric final : public in_process_fabric {
 public:
  local_fabric(std::uint32_t ranks, const settings& settings);

  std::unique_ptr<endpoint> open(rank_id rank) override;

 private:
  settings settings_;
  job_secret secret_;
  std::vector<std::vector<net::unique_fd>> liveness_sockets_;  // by rank and peer; open takes its own
};

/// The endpoint of a rank in the job that this process belongs to, over datagrams to the ranks that are peer
/// candidates. The first connection with each becomes its liveness socket; no other peer is accepted any more. Blocks
/// until all are connected. Throws setup_error or job_aborted.
[[nodiscard]] std::unique_ptr<endpoint> endpoint_of(launch::joined_rank rank, const settings& settings);

}  // namespace nacre::transport::udp
