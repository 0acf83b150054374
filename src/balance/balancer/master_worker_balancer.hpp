// SPDX-License-Identifier: Apache-2.0
// Balancing by a master: it holds the work, and underloaded ranks ask it for objects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <nacre/balancer.hpp>

#include "balance/balancer/surplus.hpp"

namespace nacre::balance {

/// Master and workers, after PREMA appendix I.1.
///
/// Invariants. A rank has at most one request open and sends nothing while it is, so a machine without work is silent.
/// Only the master gives, so an object moves at most once.
///
/// A rank is underloaded when more of its workers are idle than objects wait for them, or its load is below `low_load`.
///
/// | worker | tick, underloaded, time to ask | given(n) from the master |
/// |---|---|---|
/// | resting | request(n+1) to the master; waiting | - |
/// | waiting | - | wait `arrival_timeout` for the objects; resting |
///
/// The master puts each request into its line. It distributes its surplus to the line at once and at each tick, and
/// sends given(n) to each rank that gets objects. PREMA's master also answers that there is nothing to give; here it is
/// silent.
class master_worker_balancer final : public balancer {
 public:
  /// Times in seconds; balance_options() explains them.
  struct options {
    std::uint32_t master = 0;
    double low_load = 0;
    std::uint32_t objects_max = 1;
    double arrival_timeout = 200e-6;
  };

  explicit master_worker_balancer(const options& parameters) : parameters_(parameters) {}

  void on_tick(balancer_host& host) override;
  void on_message(balancer_host& host, rank_id source, std::span<const std::byte> bytes) override;
  [[nodiscard]] bool wanted() const override { return !line_.empty(); }
  [[nodiscard]] bool observes_loads() const override { return false; }

 private:
  [[nodiscard]] rank_id master(const balancer_host& host) const noexcept;
  [[nodiscard]] bool underloaded(balancer_host& host);
  void distribute(balancer_host& host);

  const options parameters_;
  surplus surplus_;

  // The worker's half.
  bool waiting_ = false;
  std::uint32_t number_ = 0;  // of the latest request
  double ask_at_ = 0;

  // The master's half.
  std::vector<rank_id> line_;           // in order of arrival
  std::vector<std::uint32_t> numbers_;  // of the requests in line_
};

[[nodiscard]] std::unique_ptr<balancer> make_master_worker_balancer(const config& configuration);

}  // namespace nacre::balance
