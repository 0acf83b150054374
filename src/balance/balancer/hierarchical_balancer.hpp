// SPDX-License-Identifier: Apache-2.0
// Balancing by stealing, inside the host first.
#pragma once

#include <cstdint>
#include <memory>

#include "balance/balancer/steal_balancer.hpp"

namespace nacre::balance {

/// Stealing as in steal_balancer, where a thief prefers its neighbourhood: `inside` requests in a row go to random
/// ranks of its own group, the next one to a rank elsewhere, and so on. Thieves of the victim's group line up before
/// others.
///
/// Groups are consecutive ranks: those of a host, unless `group` says how many.
///
/// Source: UTS-MPI section 2.3, which names hierarchical schemes without studying them.
class hierarchical_balancer final : public steal_balancer {
 public:
  struct grouping {
    std::uint32_t group = 0;  ///< ranks; 0: as many as a host has
    std::uint32_t inside = 2;
  };

  hierarchical_balancer(const options& parameters, const grouping& how) : steal_balancer(parameters), how_(how) {}

 private:
  [[nodiscard]] rank_id choose_victim(balancer_host& host, std::uint32_t in_vain) override;
  [[nodiscard]] bool goes_first(const balancer_host& host, rank_id who) const override;
  [[nodiscard]] std::uint32_t group_size(const balancer_host& host) const noexcept;

  const grouping how_;
};

[[nodiscard]] std::unique_ptr<balancer> make_hierarchical_balancer(const config& configuration);

}  // namespace nacre::balance
