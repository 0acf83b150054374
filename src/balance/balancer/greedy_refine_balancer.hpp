// SPDX-License-Identifier: Apache-2.0
// Balancing by a global look from time to time, which moves as little as it can.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <nacre/balancer.hpp>

#include "balance/balancer/backoff.hpp"

namespace nacre::balance {

/// What one rank tells the coordinator.
struct refine_report {
  double load = 0;                   ///< of all its objects, those that run too
  std::vector<object_load> movable;  ///< those that do not run and have a load, the heaviest
};
struct refine_move {
  object_id object;
  rank_id from;
  rank_id to;
};
/// Takes objects from ranks that are above the average by more than the part `tolerance`, heaviest rank first, and
/// gives them to the lightest. An object is taken only if the receiver then has less than the giver had; one that
/// leaves nobody above the bound is preferred. No object moves twice. In the result no rank above the bound has a
/// movable object that the lightest rank could take under that condition.
[[nodiscard]] std::vector<refine_move> refine(std::vector<refine_report> ranks, double tolerance);

/// Greedy refinement, as the strategies RefineLB and GreedyRefineLB of Charm++ do it, by rank 0:
///
/// | coordinator | time for a look | report(n) |
/// |---|---|---|
/// | resting | look(n+1) to all; gathering | ignored |
/// | gathering | - | note; when all are there: moves(n) to every rank that must give; resting |
///
/// A rank answers look(n) with report(n), and does what moves(n) says.
///
/// Invariants. One look is open at a time. What a look moves makes the sum of the squares of the loads smaller. Looks
/// that move nothing become ever rarer, down to a bound.
class greedy_refine_balancer final : public balancer {
 public:
  /// Times in seconds; balance_options() explains them.
  struct options {
    backoff pace{1e-3, 20e-3};
    double tolerance = 0.05;
    std::uint32_t objects_max = 256;
  };

  explicit greedy_refine_balancer(const options& parameters) : parameters_(parameters), pace_(parameters.pace) {}

  void on_tick(balancer_host& host) override;
  void on_message(balancer_host& host, rank_id from, std::span<const std::byte> bytes) override;
  [[nodiscard]] bool observes_loads() const override { return false; }

 private:
  struct message;

  [[nodiscard]] refine_report own_report(balancer_host& host) const;
  void note(balancer_host& host, rank_id from, const message& m);
  void decide(balancer_host& host);
  void obey(balancer_host& host, const message& m) const;

  const options parameters_;
  backoff pace_;

  // The coordinator's half.
  bool gathering_ = false;
  std::uint32_t number_ = 0;  // of the latest look
  double look_at_ = 0;
  std::vector<refine_report> reports_;  // of each rank
  std::vector<bool> reported_;
  std::uint32_t missing_ = 0;
};

[[nodiscard]] std::unique_ptr<balancer> make_greedy_refine_balancer(const config& configuration);

}  // namespace nacre::balance
