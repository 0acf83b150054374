// SPDX-License-Identifier: Apache-2.0
// Balancing by diffusion: an underloaded rank draws load from the most loaded of a few neighbours.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <nacre/balancer.hpp>

#include "balance/balancer/backoff.hpp"
#include "balance/balancer/surplus.hpp"

namespace nacre::balance {

/// Receiver-initiated diffusion over a random neighbourhood.
///
/// The underloaded rank:
/// | state | tick, underloaded, time to look | level(n) of a neighbour | nothing(n) | given(n) |
/// |---|---|---|---|---|
/// | resting, all that was given has come | level_request(n+1) to all neighbours; looking | - | - | - |
/// | looking | - | note; all there: see below | - | - |
/// | asking | - | - | replace that neighbour; see below | shortest back-off; resting |
///
/// Below: if one that has not refused is above the own load, work_request(n, own load) to the highest of them; asking.
/// Otherwise a longer back-off and, when nobody was above, new neighbours; resting.
///
/// Underloaded: more workers are idle than objects wait for them, or the load is below `low_load`.
///
/// Any rank answers level_request(n) with level(n, own load), and work_request(n, load of the initiator) with given(n, how
/// many) when it has moved objects, else with nothing(n). It moves the heaviest objects that fit into half of the
/// difference between the two loads; if none fits, the lightest one, should that still narrow the gap by a tenth. It
/// keeps `low_load` for itself, and as many waiting objects as it has idle workers. After a refusal it is wanted for
/// two of the shortest intervals, so that its work can split.
///
/// A rank that was given objects does not look again before they have come, or four of the longest intervals have
/// passed: else large objects on their way would be given to it several times over.
///
/// Invariants. What is moved makes the sum of the squares of the loads smaller, so objects that nobody works on cannot
/// be moved for ever, and come to rest where no pair of neighbours differs by more than an object. One look or request
/// of a rank is open at a time. A rank that is not underloaded sends nothing but answers.
///
/// Source: PREMA appendix I.2, where the largest object is given whatever the difference; giving less keeps two
/// ranks from exchanging an object back and forth.
class diffusion_balancer final : public balancer {
 public:
  /// Times in seconds; balance_options() explains them.
  struct options {
    std::uint32_t neighbours = 4;
    double low_load = 0;
    double object_load_min = 0;
    backoff look_interval{100e-6, 10e-3};
    std::uint32_t objects_max = 16;
  };

  explicit diffusion_balancer(const options& parameters);

  void on_tick(balancer_host& host) override;
  void on_message(balancer_host& host, rank_id from, std::span<const std::byte> bytes) override;
  [[nodiscard]] bool wanted() const override { return wanted_; }
  [[nodiscard]] bool observes_loads() const override { return false; }

 private:
  enum class state : std::uint8_t { resting, looking, asking };

  struct neighbour {
    rank_id rank;
    std::optional<double> load;  // nothing until it has answered, and after it has refused
  };

  [[nodiscard]] bool underloaded(balancer_host& host);
  [[nodiscard]] double own_load(balancer_host& host);
  void look(balancer_host& host);
  void on_level(balancer_host& host, rank_id from, double load);
  void ask_highest(balancer_host& host);
  void on_refusal(balancer_host& host);
  void on_success(balancer_host& host, std::uint32_t objects);
  [[nodiscard]] bool awaits_objects(balancer_host& host) const;
  void choose_neighbours(balancer_host& host);
  [[nodiscard]] rank_id stranger(balancer_host& host);
  [[nodiscard]] std::uint32_t give(balancer_host& host, rank_id to, double load_there);

  const options parameters_;
  backoff look_interval_;
  state now_ = state::resting;
  std::uint32_t number_ = 0;  // of the latest look
  double look_at_ = 0;
  double looked_at_ = 0;
  std::vector<neighbour> neighbours_;
  std::size_t victim_ = 0;  // asking: which neighbour
  bool wanted_ = false;     // somebody has got nothing here, not long ago
  double wanted_until_ = 0;
  surplus own_;
  std::optional<double> own_load_;      // since the last tick or arrival
  std::uint64_t arrivals_seen_ = 0;     // when own_load_ was found
  std::uint64_t arrivals_asked_ = 0;    // when the last request for work went out
  std::uint64_t arrivals_awaited_ = 0;  // when all that was given has come
  double awaits_until_ = 0;
  std::vector<object_load> candidates_;  // scratch
};

[[nodiscard]] std::unique_ptr<balancer> make_diffusion_balancer(const config& configuration);

}  // namespace nacre::balance
