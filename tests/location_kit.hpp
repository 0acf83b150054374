// SPDX-License-Identifier: Apache-2.0
// What tests of locations have in common: an object that moves, and simulated ranks without a balancer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <nacre/nacre.hpp>

#include "runtime/engine.hpp"

namespace nacre {

struct wanderer {
  std::uint32_t met = 0;
  void meet() { ++met; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(met);
  }
};

/// All ranks share the process: the asker's variable is told how many objects this rank knows of.
inline void tell_known(context& ctx, std::uintptr_t known) {
  *reinterpret_cast<std::size_t*>(known) = ctx.core().objects().known();
}

inline config simulated(std::uint32_t ranks) {
  config configuration;
  configuration.set("transport", "sim");
  configuration.set("balancer", "none");
  configuration.set("ranks", std::to_string(ranks));
  return configuration;
}

}  // namespace nacre
