// SPDX-License-Identifier: Apache-2.0
// Choice of a victim by group.
#include "balance/balancer/hierarchical_balancer.hpp"

#include <algorithm>

#include "balance/balancer/random_rank.hpp"

namespace nacre::balance {

std::uint32_t hierarchical_balancer::group_size(const balancer_host& host) const noexcept {
  return std::max(grouping_.group != 0 ? grouping_.group : host.ranks_on_host(), 1u);
}

bool hierarchical_balancer::goes_first(const balancer_host& host, rank_id source) const {
  return source.value() / group_size(host) == host.rank().value() / group_size(host);
}

rank_id hierarchical_balancer::choose_victim(balancer_host& host, std::uint32_t in_vain) {
  const std::uint32_t size = group_size(host);
  const std::uint32_t first = host.rank().value() / size * size;
  const std::uint32_t rest = size < host.size() - first ? first + size : host.size();
  const std::uint32_t group = rest - first;
  const std::uint32_t elsewhere = host.size() - group;
  const bool stays = in_vain % (grouping_.inside + 1) != grouping_.inside;
  if (group > 1 && (stays || elsewhere == 0)) return random_other_rank(host, first, rest - 1);
  const auto drawn = static_cast<std::uint32_t>(host.rng().below(elsewhere));
  return rank_id{drawn < first ? drawn : drawn + group};
}

std::unique_ptr<balancer> make_hierarchical_balancer(const config& configuration) {
  return std::make_unique<hierarchical_balancer>(
      steal_options(configuration),
      hierarchical_balancer::grouping{
          .group = static_cast<std::uint32_t>(configuration.get_int("balance.hierarchical.group")),
          .inside = static_cast<std::uint32_t>(configuration.get_int("balance.hierarchical.inside"))});
}

}  // namespace nacre::balance
