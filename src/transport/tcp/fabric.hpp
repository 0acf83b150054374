// SPDX-License-Identifier: Apache-2.0
// The fabrics of the backend tcp: all ranks in one process for tests, or the endpoint of one rank of a job.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "join/launch/member.hpp"
#include "join/net/refusal_log.hpp"
#include "join/net/socket.hpp"
#include "transport/in_process_fabric.hpp"
#include "wire/auth.hpp"

namespace nacre::transport::tcp {

/// The options of tcp.
struct settings {
  launch::join_options join{.connections = channel_count};  ///< the connections: see endpoint_parts
  std::size_t output_bytes_max = std::size_t{8} << 20;      ///< for each connection
};

/// The values of the options of tcp; their defaults where they are not declared.
[[nodiscard]] settings read_settings(const config& configuration);

/// All ranks in this process, over the loopback interface, with a secret of their own. A thread for each rank must open
/// its endpoint, because each `open` waits for all others.
class local_fabric final : public in_process_fabric {
 public:
  local_fabric(std::uint32_t ranks, const settings& settings, net::line_sink log = net::write_error_line);

  std::unique_ptr<endpoint> open(rank_id rank) override;

  /// The address at which the rank listens, until it has closed.
  [[nodiscard]] const std::string& address_of(rank_id rank) const { return addresses_[rank.value()]; }
  [[nodiscard]] const job_secret& secret() const noexcept { return secret_; }

 private:
  settings settings_;
  net::line_sink log_;
  job_secret secret_;
  std::vector<std::string> addresses_;
  std::vector<net::unique_fd> listening_sockets_;  // by rank; `open` takes its rank's
};

/// The endpoint of a rank in the job of this process, over the sockets of the ranks in `rank.candidates`.
[[nodiscard]] std::unique_ptr<endpoint> endpoint_of(launch::joined_rank rank, const settings& settings);

}  // namespace nacre::transport::tcp
