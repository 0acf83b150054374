// SPDX-License-Identifier: Apache-2.0
// The fabrics of the backend auto: for each pair of ranks shared memory when they share a host, otherwise sockets.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "transport/launch/job_ticket.hpp"
#include "transport/launch/pmix_job.hpp"
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
class job_fabric final : public fabric {
 public:
  /// Of nacre run.
  job_fabric(launch::job_ticket ticket, const settings& how);
  /// Of a launcher that speaks PMIx.
  explicit job_fabric(const settings& how);

  std::uint32_t size() const noexcept override { return pmix_ ? pmix_->size() : ticket_->size; }
  std::span<const rank_id> local_ranks() const noexcept override { return {&rank_, 1}; }
  std::uint32_t ranks_on_host() const noexcept override {
    return pmix_ ? pmix_->ranks_on_host() : ticket_->ranks_on_host;
  }
  std::unique_ptr<endpoint> open(rank_id rank) override;

 private:
  settings settings_;
  std::optional<launch::job_ticket> ticket_;
  std::unique_ptr<launch::pmix_job> pmix_;
  rank_id rank_;
};

}  // namespace nacre::transport::mixed
