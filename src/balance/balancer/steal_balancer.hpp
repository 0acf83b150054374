// SPDX-License-Identifier: Apache-2.0
// Balancing by stealing: a rank with an idle worker asks a random other one for objects.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <nacre/balancer.hpp>

#include "balance/balancer/backoff.hpp"
#include "balance/balancer/surplus.hpp"

namespace nacre::balance {

/// Random stealing with requests that wait for work at the victim.
///
/// The thief, a rank with more idle workers than waiting objects:
/// | state | tick, still a thief, time to ask | nothing(n) from the victim | given(n) from the victim |
/// |---|---|---|---|
/// | resting | request(n+1) to a random rank; asking | - | - |
/// | asking | - | longer back-off; resting | shortest back-off; rest until the objects must be here; resting |
///
/// The victim: its surplus are the waiting objects that its own idle workers will not take.
/// | event | surplus | none, and room in the line | none, and no room |
/// |---|---|---|---|
/// | request(n) | line up; deal | line up, until a time that depends on who asks | nothing(n) |
/// | tick | deal | nothing(n) to those whose time is over | as before |
///
/// To deal: the surplus is dealt like cards, heaviest first, to the line and then to the victim itself, who keeps its
/// share; whoever got objects gets given(n) and leaves the line.
///
/// A busy victim keeps a request for `hold`, because its running work may split when it hears that it is wanted. Any
/// victim keeps it as long as the thief says that it would rest otherwise (its back-off, none at first): so the ranks
/// that have looked around in vain wait where work may appear, instead of asking around.
///
/// Invariants. A rank that is no thief sends no request, so nothing is sent while all ranks work. One request of a rank
/// is open at a time, and two are at least half a minimal back-off apart. Nobody gives what its own workers need, so an
/// object is not handed around. The line holds `waiting_max` requests, each for the longer of `hold` and the longest
/// back-off.
///
/// Source: UTS-MPI section 3.2 (random victims, stable while all work); PREMA section 3.3; keeping requests at idle
/// ranks: Saraswat et al., Lifeline-based global load balancing (2011), with random instead of fixed lines.
class steal_balancer : public balancer {
 public:
  /// Times in seconds; balance_options() explains them.
  struct options {
    backoff look_interval{20e-6, 1e-3};
    double hold = 200e-6;
    double settle = 200e-6;
    std::uint32_t waiting_max = 4;
    std::uint32_t objects_max = 16;
  };

  explicit steal_balancer(const options& parameters);

  void on_tick(balancer_host& host) final;
  void on_message(balancer_host& host, rank_id from, std::span<const std::byte> bytes) final;
  [[nodiscard]] bool wanted() const final { return !line_.empty(); }
  [[nodiscard]] bool observes_loads() const final { return false; }

 protected:
  /// Whom to ask after so many requests in a row that were in vain.
  [[nodiscard]] virtual rank_id choose_victim(balancer_host& host, std::uint32_t in_vain);
  /// Whether that thief lines up before all to whom this does not apply.
  [[nodiscard]] virtual bool goes_first(const balancer_host& /*host*/, rank_id /*who*/) const { return false; }

 private:
  struct thief {
    rank_id rank;
    std::uint32_t number;  // of its request
    double until;
    bool first;  // see goes_first
  };

  void look_for_work(balancer_host& host);
  void ask(balancer_host& host);
  void on_request(balancer_host& host, thief who);
  void deal(balancer_host& host);
  void send_off_expired(balancer_host& host);

  const options parameters_;
  surplus own_;

  // The thief's half.
  backoff look_interval_;
  bool asking_ = false;
  rank_id victim_;
  std::uint32_t number_ = 0;  // of the latest request
  double rest_ = 0;           // the wait since the latest failure; 0 after none
  double ask_at_ = 0;
  double asked_at_ = 0;
  std::uint32_t in_vain_ = 0;  // requests in a row

  // The victim's half.
  std::vector<thief> line_;     // in order of arrival
  std::vector<rank_id> ranks_;  // scratch: of the line
};

/// From the options balance.steal.*. Throws setup_error when they contradict each other.
[[nodiscard]] steal_balancer::options steal_options(const config& configuration);
[[nodiscard]] std::unique_ptr<balancer> make_steal_balancer(const config& configuration);

}  // namespace nacre::balance
