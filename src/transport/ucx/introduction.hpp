// SPDX-License-Identifier: Apache-2.0
// How ranks that have proven themselves to each other tell where UCX reaches them.
#pragma once

#include <optional>
#include <vector>

#include "transport/launch/control_line.hpp"
#include "transport/net/greeting.hpp"
#include "transport/ucx/endpoint.hpp"
#include "transport/ucx/module.hpp"

namespace nacre::transport::ucx {

/// What a rank brings to it.
struct introduction {
  rank_id rank;
  launch::control_line* line = nullptr;  ///< null: no launcher
  net::time_point deadline;
};

/// What a peer has said.
struct peer_words {
  std::uint64_t key = 0;                                       ///< for the stamps of what is sent to it
  std::array<std::vector<std::byte>, lane_count> addresses{};  ///< of its workers
};

/// Sends each guest the addresses of the own lanes and the key that is for it alone (`keys`, by rank), and returns what
/// each has said, by rank. Leaves the sockets of the guests with them. Blocks; throws setup_error or job_aborted.
[[nodiscard]] std::vector<peer_words> introduce(const introduction& parts, const port& own,
                                                const std::vector<std::uint64_t>& keys,
                                                const std::vector<std::optional<net::guest>>& guests);

}  // namespace nacre::transport::ucx
