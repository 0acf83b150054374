// SPDX-License-Identifier: Apache-2.0
// Balancers for tests: they keep everything moving, whether that helps or not.
#pragma once

#include <cstdint>
#include <memory>

#include <nacre/balancer.hpp>

#include "balance/balancer/surplus.hpp"

namespace nacre::balance {

/// Every `interval` the surplus of a rank goes to the next rank (`rotate`) or each object to a random one (`random`),
/// without a message.
///
/// Invariants. Objects without messages stay, and so do as many others as the rank has idle workers: so every worker
/// always finds something to run, and a program comes to its end and to quiescence.
class rotate_balancer final : public balancer {
 public:
  enum class target : std::uint8_t { next, random };

  /// `interval` in seconds.
  rotate_balancer(target to, double interval) : to_(to), interval_(interval) {}

  void on_tick(balancer_host& host) override;
  [[nodiscard]] bool observes_loads() const override { return false; }

 private:
  const target to_;
  const double interval_;
  surplus own_;
  double move_at_ = 0;
};

[[nodiscard]] std::unique_ptr<balancer> make_rotate_balancer(const config& configuration);
[[nodiscard]] std::unique_ptr<balancer> make_random_balancer(const config& configuration);

}  // namespace nacre::balance
