// SPDX-License-Identifier: Apache-2.0
// Judging what waits by some of it.
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

/// Looks at about `count` objects that wait, and returns how many the rank can spare, judged by them. Idle workers take
/// first what cannot go.
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

std::size_t surplus::deal(balancer_host& host, std::span<const rank_id> line, std::size_t objects_max) {
  dealt_ = 0;
  if (line.empty()) return 0;
  look(host);
  // Of a large bag the own rank keeps as much as it gives without being dealt any: only what goes is looked at.
  const std::size_t to_line = line.size() * objects_max;
  const std::size_t parties = spare_at_most() >= 2 * to_line ? line.size() : line.size() + 1;
  const std::span<const object_load> cards = heaviest(host, std::min(spare_at_most(), parties * objects_max));
  for (std::size_t card = 0; card < cards.size(); ++card) {
    const std::size_t party = card % parties;
    if (party < line.size()) host.migrate(cards[card].object, line[party]);
  }
  dealt_ = cards.size();
  parties_ = parties;
  return std::min(cards.size(), line.size());
}

}  // namespace nacre::balance
