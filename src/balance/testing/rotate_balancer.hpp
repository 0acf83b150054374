// SPDX-License-Identifier: Apache-2.0
// Balancers for tests: they keep all waiting objects moving, whether that helps or not.
#pragma once

#include <cstdint>
#include <memory>

#include <nacre/balancer.hpp>

#include "balance/balancer/surplus.hpp"

namespace nacre::balance {

/// Every `interval`, each object of a rank's surplus goes to the next rank (`rotate`) or to a random rank (`random`).
/// No messages are sent.
///
/// Invariant: as many waiting objects as the rank has idle workers stay, and so do objects without messages. So every
/// worker finds something to run, and a program reaches quiescence and its end.
class rotate_balancer final : public balancer {
 public:
  enum class target : std::uint8_t { next, random };

  /// `interval` in seconds.
  rotate_balancer(target target, double interval) : target_(target), interval_(interval) {}

  void on_tick(balancer_host& host) override;
  [[nodiscard]] bool observes_loads() const override { return false; }

 private:
  const target target_;
  const double interval_;
  surplus surplus_;
  double move_at_ = 0;
};

[[nodiscard]] std::unique_ptr<balancer> make_rotate_balancer(const config& configuration);
[[nodiscard]] std::unique_ptr<balancer> make_random_balancer(const config& configuration);

}  // namespace nacre::balance
