// SPDX-License-Identifier: Apache-2.0
// Balancing by stealing, inside the host first.
#pragma once

#include <cstdint>
#include <memory>

#include "balance/balancer/steal_balancer.hpp"

namespace nacre::balance {

/// Stealing as in steal_balancer, but a thief prefers its group: `inside` requests in a row go to random ranks of the
/// group, the next one to a random rank outside, and so on. In a victim's line, thieves of its group come before
/// others.
///
/// A group is `group` consecutive ranks, by default the ranks of a host.
///
/// Source: UTS-MPI section 2.3, which names hierarchical schemes without studying them.
class hierarchical_balancer final : public steal_balancer {
 public:
  struct grouping {
    std::uint32_t group = 0;  ///< ranks in a group; 0: the ranks of a host
    std::uint32_t inside = 2;
  };

  hierarchical_balancer(const options& parameters, const grouping& grouping)
      : steal_balancer(parameters), grouping_(grouping) {}

 private:
  [[nodiscard]] rank_id choose_victim(balancer_host& host, std::uint32_t in_vain) override;
  [[nodiscard]] bool goes_first(const balancer_host& host, rank_id source) const override;
  [[nodiscard]] std::uint32_t group_size(const balancer_host& host) const noexcept;

  const grouping grouping_;
};

[[nodiscard]] std::unique_ptr<balancer> make_hierarchical_balancer(const config& configuration);

}  // namespace nacre::balance
