// SPDX-License-Identifier: Apache-2.0
// Estimates a rank's surplus from a sample of its waiting objects.
#include "balance/balancer/surplus.hpp"

namespace nacre::balance {
namespace {

constexpr std::size_t sample_min = 16;

}  // namespace

void surplus::look(balancer_host& host) {
  waiting_ = host.summary().waiting;
  idle_ = host.idle_workers();
  worthy_.clear();
}

std::size_t surplus::at_a_time(const balancer_host& host, std::size_t least) const {
  constexpr std::size_t parts = 8, most = 128;
  return std::max(least, std::min(most, spare_at_most() / (parts * host.size())));
}

/// Looks at about `count` waiting objects and estimates from them how many the rank can spare. Work that is not worth
/// moving is counted for the idle workers first.
std::size_t surplus::sample(balancer_host& host, std::size_t count) {
  worthy_.clear();
  if (spare_at_most() == 0) return 0;
  const std::size_t asked = std::max(count, sample_min);
  const std::span<const object_load> seen = host.candidates(asked);
  for (const object_load& each : seen) {
    if (!worth_moving(each)) continue;
    worthy_.push_back(each);
    worthy_.back().load = sane(each.load);
  }
  const bool all = seen.size() < asked;
  const std::size_t worthy = all ? worthy_.size() : std::max(worthy_.size(), waiting_ * worthy_.size() / seen.size());
  const std::size_t staying = waiting_ - std::min(waiting_, worthy);
  return worthy - std::min(worthy, idle_ - std::min(idle_, staying));
}

std::size_t surplus::spare(balancer_host& host) { return sample(host, sample_min); }

std::span<const object_load> surplus::heaviest(balancer_host& host, std::size_t count) {
  const std::size_t spare = sample(host, count);
  return std::span(worthy_).first(std::min({count, spare, worthy_.size()}));
}

std::size_t surplus::distribute(balancer_host& host, std::span<const rank_id> line, std::size_t objects_max) {
  distributed_ = 0;
  if (line.empty()) return 0;
  look(host);
  // If at least twice as much is spare as the line can get, the own rank takes no part: it keeps enough anyway.
  const std::size_t to_line = line.size() * objects_max;
  const std::size_t receivers = spare_at_most() >= 2 * to_line ? line.size() : line.size() + 1;
  const std::span<const object_load> objects = heaviest(host, std::min(spare_at_most(), receivers * objects_max));
  for (const object_load& each : objects) {
    const std::size_t receiver = distributed_ % receivers;
    if (receiver >= line.size() || host.migrate_if_worth(each.object, line[receiver])) ++distributed_;
  }
  receivers_ = receivers;
  return std::min(distributed_, line.size());
}

}  // namespace nacre::balance
