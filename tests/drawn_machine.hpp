// SPDX-License-Identifier: Apache-2.0
// A simulated machine for a random program: any ranks, workers, balancers, location policies, times and late messages.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include <nacre/rng.hpp>

#include "small_jobs.hpp"

namespace nacre::tests {

/// The options that a seed draws.
inline settings drawn_machine(std::uint64_t seed) {
  rng draw = rng(seed).fork(3);
  const auto one_of = [&](std::initializer_list<const char*> words) {
    return std::string(*(words.begin() + draw.below(words.size())));
  };
  settings tuning{{"seed", std::to_string(seed)}};
  tuning["ranks"] = std::to_string(1 + draw.below(6));
  tuning["workers"] = std::to_string(1 + draw.below(3));
  tuning["balancer"] = one_of({"none", "rotate", "rotate", "random", "steal", "share"});
  tuning["balance.rotate.interval"] = tuning["balance.random.interval"] = one_of({"2us", "20us", "100us"});
  tuning["location"] = one_of({"lazy_forwarding", "jump_update", "path_update", "home", "broadcast_update"});
  tuning["aggregate"] = one_of({"on", "off"});
  tuning["hops_max"] = one_of({"1", "2", "8"});
  tuning["sim.latency"] = one_of({"0ns", "100ns", "1500ns", "20us"});
  tuning["sim.jitter"] = one_of({"0", "0.1", "2", "10"});
  tuning["sim.late_probability"] = one_of({"0", "0.01", "0.2"});
  tuning["sim.cost.factor"] = one_of({"0", "1", "20"});
  tuning["scheduler"] = one_of({"steal", "fifo", "lifo", "shared"});
  tuning["location_cache"] = one_of({"1", "2", "65536"});
  return tuning;
}

}  // namespace nacre::tests
