// SPDX-License-Identifier: Apache-2.0
// Balancing by lifelines: an idle rank tries a few random steals, then waits silently for its fixed neighbours to give.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <nacre/balancer.hpp>

#include "balance/balancer/surplus.hpp"

namespace nacre::balance {

struct lifeline_message;

/// Lifeline-based balancing (Saraswat et al., PPoPP 2011). A *lifeline* is a request for work that a rank registers at
/// a neighbour, and that stays there until it is fulfilled or cancelled. Two ranks are neighbours if their numbers
/// differ in one bit: a hypercube, which stays connected when its last corners are missing.
///
/// Invariants. A rank that is no thief sends only objects, given, fulfilled, cancelled, and forwarded or refused
/// requests. A rank has at most one lifeline at each neighbour and never registers it twice. So a machine without work
/// falls silent after one request of each rank and one lifeline for each edge and direction. From a rank that gets work
/// the lifelines lead to all idle ranks, so work that is passed on reaches all of them.
///
/// The thief, a rank with more idle workers than waiting objects:
/// | state | tick, no promised object in flight | nothing(n) | given(n), fulfilled |
/// |---|---|---|---|
/// | resting | request(n+1) to the last giver of a whole bag, else to a random rank; asking | - | add to the promised |
/// | asking | - | lifeline to every neighbour that has none; waiting | add to the promised; resting |
/// | waiting | - | - | add to the promised; resting |
///
/// A victim that has surplus gives it to a request at once and answers given(n). A victim without surplus passes the
/// request on to a random rank; the last of `attempts` ranks answers nothing(n). If such a victim has running work that
/// may split, its wanted() is true until something waits or `arrival_timeout` is over, so that the next request
/// succeeds.
///
/// Whenever a rank has surplus it distributes it to the ranks that have a lifeline here, and sends fulfilled to each
/// that gets objects. A rank that has got work sends cancelled for its other lifelines, so that it is not given more
/// than it needs.
///
/// given and fulfilled carry the number of objects. The thief asks again when as many objects have arrived and it has
/// run out of work once more. It waits no longer than `arrival_timeout`, since an object may have ended before it
/// could leave.
class lifeline_balancer final : public balancer {
 public:
  /// Times in seconds; balance_options() explains them.
  struct options {
    std::uint32_t attempts = 10;
    std::uint32_t objects_max = 128;
    double arrival_timeout = 200e-6;
  };

  explicit lifeline_balancer(const options& parameters) : parameters_(parameters) {}

  void on_tick(balancer_host& host) override;
  void on_message(balancer_host& host, rank_id source, std::span<const std::byte> bytes) override;
  [[nodiscard]] bool wanted() const override { return !line_.empty() || refused_; }
  [[nodiscard]] bool observes_loads() const override { return false; }
  [[nodiscard]] bool rests() const override { return rests_; }

  /// For a balancer that does not steal at present: gives surplus to the ranks that have a lifeline here, asks for
  /// nothing.
  void serve(balancer_host& host);
  /// For a balancer that stops stealing: cancels this rank's lifelines, and ignores late answers to its requests.
  void withdraw(balancer_host& host);

 private:
  void look_for_work(balancer_host& host);
  void register_lifelines(balancer_host& host);
  [[nodiscard]] bool awaits_objects(balancer_host& host);
  void expect_none(balancer_host& host);
  void cancel_lifelines(balancer_host& host);
  void note_giver(rank_id giver, std::uint32_t objects);
  void expect_objects(balancer_host& host, std::uint32_t objects);
  void on_request(balancer_host& host, const lifeline_message& m);
  void distribute(balancer_host& host);

  const options parameters_;
  surplus surplus_;

  // The thief's half.
  bool asking_ = false;
  bool rests_ = false;            // a lifeline is registered at every neighbour
  std::optional<rank_id> giver_;  // the last giver of a whole bag, until a request fails
  std::uint32_t number_ = 0;      // of the latest request
  std::uint32_t failures_ = 0;    // since there was work here
  std::uint32_t registered_ = 0;  // bit mask of the neighbours that hold a lifeline of this rank
  std::uint64_t promised_ = 0;    // arrivals at this rank when all that was promised has come
  double ask_at_ = 0;             // when the wait for promised objects ends

  // The victim's half.
  bool refused_ = false;  // a request has failed here, and nothing has waited for a worker since
  double refused_until_ = 0;
  std::vector<rank_id> line_;  // ranks that have a lifeline here, in order of arrival
};

[[nodiscard]] lifeline_balancer::options lifeline_options(const config& configuration);
[[nodiscard]] std::unique_ptr<balancer> make_lifeline_balancer(const config& configuration);

}  // namespace nacre::balance
