// SPDX-License-Identifier: Apache-2.0
// Choosing a rank at random.
#pragma once

#include <cstdint>

#include <nacre/balancer.hpp>

namespace nacre::balance {

/// A random rank between `first` and `last`, both included, other than this one. There must be one.
[[nodiscard]] inline rank_id random_other_rank(balancer_host& host, std::uint32_t first, std::uint32_t last) {
  const std::uint32_t own_rank = host.rank().value();
  const bool inside = first <= own_rank && own_rank <= last;
  auto drawn = first + static_cast<std::uint32_t>(host.rng().below(last - first + (inside ? 0 : 1)));
  if (inside && drawn >= own_rank) ++drawn;
  return rank_id{drawn};
}

/// A random rank other than this one. There must be one.
[[nodiscard]] inline rank_id random_other_rank(balancer_host& host) {
  return random_other_rank(host, 0, host.size() - 1);
}

}  // namespace nacre::balance
