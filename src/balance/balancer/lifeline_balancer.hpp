// SPDX-License-Identifier: Apache-2.0
// Balancing by lifelines: a few random steals, then waiting at fixed neighbours, in silence.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <nacre/balancer.hpp>

#include "balance/balancer/surplus.hpp"

namespace nacre::balance {

/// Lifeline-based balancing (Saraswat et al., PPoPP 2011). A rank's lifelines lead to the ranks whose number differs in
/// one bit: a hypercube, which stays connected when its last corners are missing.
///
/// The thief, a rank with more idle workers than waiting objects:
/// | state | tick, time to ask, fewer than `attempts` in vain | the same, after them | nothing(n) | given(n), caught |
/// |---|---|---|---|---|
/// | resting | request(n+1) to a random rank; asking | lifeline to every neighbour where none lies | - | rest until the
/// objects must be here | | asking | - | - | one more in vain; resting | the same; resting |
///
/// The victim deals its surplus to a request at once, else answers nothing(n). A lifeline lies until it is fulfilled:
/// whenever there is surplus it is dealt to the ranks whose lifelines lie here, and who gets objects is told by caught.
///
/// Invariants. A rank that is no thief sends nothing but objects and their announcements. At most one lifeline of a
/// rank lies at each neighbour, and none is laid twice: so a machine without work falls silent after `attempts`
/// requests and one lifeline for each edge. The lifelines of all idle ranks lead to whoever gets work, so work that is
/// dealt on reaches all.
class lifeline_balancer final : public balancer {
 public:
  /// Times in seconds; balance_options() explains them.
  struct options {
    std::uint32_t attempts = 2;
    std::uint32_t objects_max = 16;
    double settle = 200e-6;
  };

  explicit lifeline_balancer(const options& parameters) : parameters_(parameters) {}

  void on_tick(balancer_host& host) override;
  void on_message(balancer_host& host, rank_id from, std::span<const std::byte> bytes) override;
  [[nodiscard]] bool wanted() const override { return !line_.empty(); }
  [[nodiscard]] bool observes_loads() const override { return false; }

 private:
  void look_for_work(balancer_host& host);
  void lay_lifelines(balancer_host& host);
  void rejoice(balancer_host& host);
  void deal(balancer_host& host);

  const options parameters_;
  surplus own_;

  // The thief's half.
  bool asking_ = false;
  rank_id victim_;
  std::uint32_t number_ = 0;    // of the latest request
  std::uint32_t failures_ = 0;  // since there was work here
  std::uint32_t laid_ = 0;      // bits: the neighbours where a lifeline of this rank lies
  double ask_at_ = 0;

  // The victim's half.
  std::vector<rank_id> line_;  // whose lifelines lie here, in order of arrival
};

[[nodiscard]] std::unique_ptr<balancer> make_lifeline_balancer(const config& configuration);

}  // namespace nacre::balance
