// SPDX-License-Identifier: Apache-2.0
// Balancing by lifelines: a few random steals, then waiting at fixed neighbours, in silence.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <nacre/balancer.hpp>

#include "balance/balancer/surplus.hpp"

namespace nacre::balance {

struct lifeline_message;

/// Lifeline-based balancing (Saraswat et al., PPoPP 2011). A rank's lifelines lead to the ranks whose number differs in
/// one bit: a hypercube, which stays connected when its last corners are missing.
///
/// The thief, a rank with more idle workers than waiting objects:
/// | state | tick, nothing promised is on its way | nothing(n) | given(n), caught |
/// |---|---|---|---|
/// | resting | request(n+1) to who last gave a whole bag, else to a random rank; asking | - | count what was promised |
/// | asking | - | lifeline to every neighbour where none lies; waiting | resting; the same |
/// | waiting | - | - | resting; the same |
///
/// A victim deals its surplus to a request at once; without any it passes the request on to a random rank, and if it
/// has work that could be split, says to its program that work is wanted, until something waits or `settle` is over:
/// the next request is answered. The last of `attempts` ranks answers nothing(n). A lifeline lies until it is fulfilled
/// or taken in: whenever there is surplus it is dealt to the ranks whose lifelines lie here, and who gets objects is
/// told by caught. A rank that has got work takes its other lifelines in by cancelled, so that it is not given more
/// than it needs.
///
/// given and caught say how many objects come. The thief asks again when as many have arrived and it has run dry once
/// more, or after `settle`, for an object may have ended before it could leave.
///
/// Invariants. A rank that is no thief sends nothing but objects, their announcements and cancelled. At most one
/// lifeline of a rank lies at each neighbour, and none is laid twice: so a machine without work falls silent after one
/// request of each rank and one lifeline for each edge and direction. The lifelines of all idle ranks lead to whoever
/// gets work, so work that is dealt on reaches all.
class lifeline_balancer final : public balancer {
 public:
  /// Times in seconds; balance_options() explains them.
  struct options {
    std::uint32_t attempts = 10;
    std::uint32_t objects_max = 128;
    double settle = 200e-6;
  };

  explicit lifeline_balancer(const options& parameters) : parameters_(parameters) {}

  void on_tick(balancer_host& host) override;
  void on_message(balancer_host& host, rank_id from, std::span<const std::byte> bytes) override;
  [[nodiscard]] bool wanted() const override { return !line_.empty() || missed_; }
  [[nodiscard]] bool observes_loads() const override { return false; }
  [[nodiscard]] bool rests() const override { return rests_; }

 private:
  void look_for_work(balancer_host& host);
  void lay_lifelines(balancer_host& host);
  [[nodiscard]] bool awaits_objects(balancer_host& host);
  void take_in_lifelines(balancer_host& host);
  void note_giver(rank_id who, std::uint32_t objects);
  void rejoice(balancer_host& host, std::uint32_t objects);
  void on_request(balancer_host& host, const lifeline_message& m);
  void deal(balancer_host& host);

  const options parameters_;
  surplus own_;

  // The thief's half.
  bool asking_ = false;
  bool rests_ = false;            // lifelines lie wherever they can
  std::optional<rank_id> giver_;  // who gave a whole bag the last time, if its work has not run out since
  std::uint32_t number_ = 0;      // of the latest request
  std::uint32_t failures_ = 0;    // since there was work here
  std::uint32_t laid_ = 0;        // bits: the neighbours where a lifeline of this rank lies
  std::uint64_t promised_ = 0;    // objects, in all
  double ask_at_ = 0;             // the latest that it is waited for

  // The victim's half.
  bool missed_ = false;  // somebody has asked in vain, and nothing has waited for a worker since
  double missed_until_ = 0;
  std::vector<rank_id> line_;  // whose lifelines lie here, in order of arrival
};

[[nodiscard]] std::unique_ptr<balancer> make_lifeline_balancer(const config& configuration);

}  // namespace nacre::balance
