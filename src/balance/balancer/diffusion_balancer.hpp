// SPDX-License-Identifier: Apache-2.0
// Balancing by diffusion: an underloaded rank asks the most loaded of a few neighbours for objects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <nacre/balancer.hpp>

#include "balance/balancer/backoff.hpp"
#include "balance/balancer/surplus.hpp"

namespace nacre::balance {

/// Receiver-initiated diffusion over a random neighbourhood.
///
/// Invariants. Every move makes the sum of the squares of the loads smaller. So objects that do not run do not move
/// back and forth for ever; they come to rest when no pair of neighbours differs by more than an object. A rank has at
/// most one look or request open. A rank that is not underloaded sends only answers.
///
/// A rank is underloaded when more of its workers are idle than objects wait for them, or its load is below `low_load`.
///
/// The underloaded rank:
/// | state | tick, underloaded, time to look | level(n) of a neighbour | nothing(n) | given(n) |
/// |---|---|---|---|---|
/// | resting, no promised object outstanding | level_request(n+1) to all neighbours; looking | - | - | - |
/// | looking | - | note it; after the last: choose | - | - |
/// | asking | - | - | replace that neighbour; choose | shortest back-off; resting |
///
/// To choose: among the neighbours that have not refused and have more load than this rank, send work_request(n, own
/// load) to the highest; asking. If there is none, take a longer back-off; resting. If no neighbour had more load in
/// the first place, also draw new neighbours.
///
/// The victim, in any state, answers level_request(n) with level(n, own load). It answers work_request(n, load) with
/// given(n, number of objects) if it has moved objects, else with nothing(n). It moves the heaviest objects that fit
/// into half of the difference between the two loads; if none fits, the lightest object, provided its load is at most
/// nine tenths of the difference. It gives at most surplus::at_a_time() objects. It keeps `low_load` for itself, and as
/// many waiting objects as it has idle workers. After a refusal its wanted() is true for two of the shortest intervals,
/// so that its work can split.
///
/// A rank that was promised objects does not look again before they have arrived, or four of the longest intervals have
/// passed. Otherwise large objects in flight would be given to it several times over.
///
/// Source: PREMA appendix I.2, which gives the largest object for any difference; giving less keeps two ranks from
/// passing an object back and forth.
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
  void on_message(balancer_host& host, rank_id source, std::span<const std::byte> bytes) override;
  [[nodiscard]] bool wanted() const override { return wanted_; }
  [[nodiscard]] bool observes_loads() const override { return false; }

 private:
  enum class state : std::uint8_t { resting, looking, asking };

  struct neighbour {
    rank_id rank;
    std::optional<double> load;  // empty until the neighbour has answered, and after it has refused
  };

  [[nodiscard]] bool underloaded(balancer_host& host);
  [[nodiscard]] double own_load(balancer_host& host);
  void look(balancer_host& host);
  void on_level(balancer_host& host, rank_id source, double load);
  void ask_highest(balancer_host& host);
  void on_refusal(balancer_host& host);
  void on_success(balancer_host& host, std::uint32_t objects);
  [[nodiscard]] bool awaits_objects(balancer_host& host) const;
  void choose_neighbours(balancer_host& host);
  [[nodiscard]] rank_id stranger(balancer_host& host);
  [[nodiscard]] std::uint32_t give(balancer_host& host, rank_id target, double load_there);

  const options parameters_;
  backoff look_interval_;
  state now_ = state::resting;
  std::uint32_t number_ = 0;  // of the latest look
  double look_at_ = 0;
  double looked_at_ = 0;
  std::vector<neighbour> neighbours_;
  std::size_t victim_ = 0;  // asking: index of the neighbour asked
  bool wanted_ = false;     // this rank has refused a request not long ago
  double wanted_until_ = 0;
  surplus surplus_;
  std::optional<double> own_load_;      // since the last tick or arrival
  std::uint64_t arrivals_seen_ = 0;     // host.arrivals() when own_load_ was computed
  std::uint64_t arrivals_asked_ = 0;    // host.arrivals() when the last work_request was sent
  std::uint64_t arrivals_awaited_ = 0;  // host.arrivals() once all promised objects have arrived
  double awaits_until_ = 0;
  std::vector<object_load> candidates_;  // scratch
};

[[nodiscard]] std::unique_ptr<balancer> make_diffusion_balancer(const config& configuration);

}  // namespace nacre::balance
