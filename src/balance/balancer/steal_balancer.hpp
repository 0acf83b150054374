// SPDX-License-Identifier: Apache-2.0
// Balancing by stealing: a rank with an idle worker asks a random other rank for objects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <nacre/balancer.hpp>

#include "balance/balancer/backoff.hpp"
#include "balance/balancer/surplus.hpp"

namespace nacre::balance {

/// Random stealing with requests that wait for work at the victim.
///
/// Invariants. A rank that is no thief sends no request, so nothing is sent while all ranks work. A thief has at most
/// one request open, and sends two requests at least half a minimal back-off apart. A victim does not give objects that
/// its own workers need, so an object is not handed around. The line holds at most `waiting_max` requests, each at most
/// for the longer of `hold` and the longest back-off.
///
/// The thief, a rank with more idle workers than waiting objects:
/// | state | tick, still a thief, time to ask | nothing(n) from the victim | given(n) from the victim |
/// |---|---|---|---|
/// | resting | request(n+1) to a random rank; asking | - | - |
/// | asking | - | longer back-off; resting | shortest back-off; wait `arrival_timeout` for the objects; resting |
///
/// The victim. Its surplus is the waiting objects that its own idle workers will not take.
/// | event | surplus | no surplus, room in the line | no surplus, line full |
/// |---|---|---|---|
/// | request(n) | put into the line; distribute | put into the line until its deadline | nothing(n) |
/// | tick | distribute | nothing(n) to each request past its deadline | nothing(n) to each past its deadline |
///
/// To distribute: hand out the surplus round robin, heaviest object first, to the line and to the victim itself, which
/// keeps its share. Each rank that got objects gets given(n) and leaves the line.
///
/// The deadline of a request is the later of two. A busy victim keeps it for `hold`, because its running work may split
/// once wanted() is true. Any victim keeps it for the thief's back-off, which the request carries (0 at first). So
/// ranks that have asked in vain wait where work may appear, instead of asking around.
///
/// Source: UTS-MPI section 3.2 (stable while all work); PREMA sections 3.3 and 4.1.1 (random victims); requests at idle
/// ranks: Saraswat et al., Lifeline-based global load balancing (2011), with random instead of fixed lines.
class steal_balancer : public balancer {
 public:
  /// Times in seconds; balance_options() explains them.
  struct options {
    backoff retry_interval{20e-6, 1e-3};
    double hold = 200e-6;
    double arrival_timeout = 200e-6;
    std::uint32_t waiting_max = 4;
    std::uint32_t objects_max = 16;
  };

  explicit steal_balancer(const options& parameters);

  void on_tick(balancer_host& host) final;
  void on_message(balancer_host& host, rank_id source, std::span<const std::byte> bytes) final;
  [[nodiscard]] bool wanted() const final { return !line_.empty(); }
  [[nodiscard]] bool observes_loads() const final { return false; }

 protected:
  /// The rank to ask next, after `in_vain` consecutive requests without success.
  [[nodiscard]] virtual rank_id choose_victim(balancer_host& host, std::uint32_t in_vain);
  /// Whether a thief, by its rank, is put into the line before all thieves for which this is false.
  [[nodiscard]] virtual bool goes_first(const balancer_host& /*host*/, rank_id /*from*/) const { return false; }

 private:
  struct thief {
    rank_id rank;
    std::uint32_t number;  // of its request
    double until;
    bool first;  // see goes_first
  };

  void look_for_work(balancer_host& host);
  void ask(balancer_host& host);
  void on_request(balancer_host& host, thief thief);
  void distribute(balancer_host& host);
  void send_off_expired(balancer_host& host);

  const options parameters_;
  surplus surplus_;

  // The thief's half.
  backoff retry_interval_;
  bool asking_ = false;
  rank_id victim_;
  std::uint32_t number_ = 0;  // of the latest request
  double rest_ = 0;           // the current back-off, seconds; 0 if the last request succeeded
  double ask_at_ = 0;
  double asked_at_ = 0;
  std::uint32_t in_vain_ = 0;  // consecutive requests without success

  // The victim's half.
  std::vector<thief> line_;     // in order of arrival
  std::vector<rank_id> ranks_;  // scratch: of the line
};

/// From the options balance.steal.*. Throws setup_error when they contradict each other.
[[nodiscard]] steal_balancer::options steal_options(const config& configuration);
[[nodiscard]] std::unique_ptr<balancer> make_steal_balancer(const config& configuration);

}  // namespace nacre::balance
