// SPDX-License-Identifier: Apache-2.0
// Decides which ranks look at distances when they steal.
#include "balance/scheduler/victims.hpp"

#include <utility>

namespace nacre {

victims::victims(std::uint32_t threads, std::shared_ptr<const nearness> known)
    : threads_(threads), known_(std::move(known)), places_(threads) {
  for (std::atomic<std::uint32_t>& each : places_) each = nearness::nowhere;
}

victims::victims(const scheduler_site& site)
    : victims(site.threads(), site.simulated || site.workers < 3 ? nullptr : nearness::of_this_host()) {}

}  // namespace nacre
