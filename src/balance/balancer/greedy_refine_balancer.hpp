// SPDX-License-Identifier: Apache-2.0
// Balancing by a coordinator that collects all loads from time to time and moves few objects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <nacre/balancer.hpp>

#include "balance/balancer/backoff.hpp"
#include "balance/balancer/refine_plan.hpp"

namespace nacre::balance {

struct wire_object;

/// Greedy refinement by rank 0, after the strategies RefineLB and GreedyRefineLB of Charm++.
///
/// Invariants. One look is open at a time. The moves of a look make the sum of the squares of the loads smaller. While
/// looks move nothing, their interval doubles, up to a bound.
///
/// | coordinator | time for a look | report(n) |
/// |---|---|---|
/// | resting | look(n+1) to all; collecting | ignored |
/// | collecting | - | note it; after the last: moves(n) to every rank that must give; resting |
///
/// A rank answers look(n) with report(n), and moves the objects that moves(n) lists.
class greedy_refine_balancer final : public balancer {
 public:
  /// Times in seconds; balance_options() explains them.
  struct options {
    backoff look_interval{1e-3, 20e-3};
    double tolerance = 0.05;
    std::uint32_t objects_max = 256;
    bool communication = false;
  };

  explicit greedy_refine_balancer(const options& parameters)
      : parameters_(parameters), look_interval_(parameters.look_interval) {}

  void on_tick(balancer_host& host) override;
  void on_message(balancer_host& host, rank_id source, std::span<const std::byte> bytes) override;
  [[nodiscard]] bool observes_loads() const override { return false; }
  [[nodiscard]] bool observes_communication() const override { return parameters_.communication; }

 private:
  struct message;

  [[nodiscard]] refine_report own_report(balancer_host& host) const;
  void note(balancer_host& host, rank_id source, const message& m);
  void decide(balancer_host& host);
  [[nodiscard]] bool learn_message_seconds();
  void apply_moves(balancer_host& host, const std::vector<wire_object>& moves) const;

  const options parameters_;
  backoff look_interval_;

  // The coordinator's half.
  bool collecting_ = false;
  std::uint32_t number_ = 0;  // of the latest look
  double look_at_ = 0;
  std::vector<refine_report> reports_;  // of each rank
  std::vector<bool> reported_;
  std::uint32_t missing_ = 0;
  double assumed_seconds_ = 0;  // per message to an object without measurement; 0: no rank has measured any
};

[[nodiscard]] std::unique_ptr<balancer> make_greedy_refine_balancer(const config& configuration);

}  // namespace nacre::balance
