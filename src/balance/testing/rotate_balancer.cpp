// SPDX-License-Identifier: Apache-2.0
// Moves the surplus on, at a fixed interval.
#include "balance/testing/rotate_balancer.hpp"

#include "balance/balancer/backoff.hpp"
#include "balance/balancer/random_rank.hpp"

namespace nacre::balance {

void rotate_balancer::on_tick(balancer_host& host) {
  if (host.size() < 2 || host.now() < move_at_) return;
  surplus_.look(host);
  if (surplus_.spare_at_most() == 0) return;
  move_at_ = host.now() + interval_;
  const rank_id next{(host.rank().value() + 1) % host.size()};
  for (const object_load& each : surplus_.heaviest(host, surplus_.spare_at_most())) {
    host.migrate(each.object, target_ == target::next ? next : random_other_rank(host));
  }
}

std::unique_ptr<balancer> make_rotate_balancer(const config& configuration) {
  return std::make_unique<rotate_balancer>(rotate_balancer::target::next,
                                           seconds_of(configuration, "balance.rotate.interval"));
}

std::unique_ptr<balancer> make_random_balancer(const config& configuration) {
  return std::make_unique<rotate_balancer>(rotate_balancer::target::random,
                                           seconds_of(configuration, "balance.random.interval"));
}

}  // namespace nacre::balance
