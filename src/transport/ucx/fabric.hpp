// SPDX-License-Identifier: Apache-2.0
// The fabrics of the backend ucx: all ranks in one process for tests, or one rank of a job that a launcher has started.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "transport/launch/job_ticket.hpp"
#include "transport/launch/pmix_job.hpp"
#include "transport/net/socket.hpp"
#include "transport/transport.hpp"
#include "transport/ucx/module.hpp"

namespace nacre::transport::ucx {

/// What the configuration says.
struct settings {
  std::chrono::nanoseconds connect_timeout = std::chrono::seconds(30);
  std::size_t output_bytes_max = std::size_t{8} << 20;  ///< for each peer and channel
  std::string interface = "";  ///< at which a rank listens for its peers, as net::own_interface; empty: chosen
  std::uint64_t handlers = 0;  ///< program::handlers
};

/// All ranks in this process. Their ends must be opened by threads of their own, because each waits for all others.
class local_fabric final : public fabric {
 public:
  local_fabric(std::uint32_t ranks, library& by, const settings& how);

  std::uint32_t size() const noexcept override { return static_cast<std::uint32_t>(local_ranks_.size()); }
  std::span<const rank_id> local_ranks() const noexcept override { return local_ranks_; }
  std::unique_ptr<endpoint> open(rank_id rank) override;

 private:
  library& library_;
  settings settings_;
  std::vector<rank_id> local_ranks_;
  std::vector<std::vector<net::unique_fd>> lifelines_;  // by rank and peer; open takes its own
};

/// The one rank that this process is, in a job of nacre run, or of a launcher that speaks PMIx. The latter has no line
/// to its ranks: one that loses a peer says so itself.
class job_fabric final : public fabric {
 public:
  job_fabric(launch::job_ticket ticket, library& by, const settings& how);
  /// Of PMIx.
  job_fabric(library& by, const settings& how);

  std::uint32_t size() const noexcept override { return pmix_ ? pmix_->size() : ticket_->size; }
  std::uint32_t ranks_on_host() const noexcept override {
    return pmix_ ? pmix_->ranks_on_host() : ticket_->ranks_on_host;
  }
  std::span<const rank_id> local_ranks() const noexcept override { return {&rank_, 1}; }
  std::unique_ptr<endpoint> open(rank_id rank) override;

 private:
  library& library_;
  settings settings_;
  std::optional<launch::job_ticket> ticket_;
  std::unique_ptr<launch::pmix_job> pmix_;
  rank_id rank_;
};

}  // namespace nacre::transport::ucx
