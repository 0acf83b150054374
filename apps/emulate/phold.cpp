// SPDX-License-Identifier: Apache-2.0
// PHOLD, the standard benchmark of parallel discrete-event simulation (Fujimoto 1990): a constant number of events, and
// each of them causes one other, for its own node or for a random one, after a random time.
#include <chrono>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include "programs.hpp"

namespace emulate {
namespace {

using nacre::coordinates;
using nacre::emulated_node;
using std::chrono::nanoseconds;

/// Small enough to travel in the event, so that a node needs no state to know them.
struct phold_rules {
  float remote = 0;
  float mean_ns = 0;
  std::int64_t until_ns = 0;
};

/// The random numbers of a node: splitmix64, one word of state.
struct random_state {
  std::uint64_t word = 0;
  std::uint64_t next() noexcept {
    std::uint64_t z = word += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  /// Uniform in (0, 1].
  double uniform() noexcept { return (static_cast<double>(next() >> 11) + 1) * 0x1p-53; }
};

void event(emulated_node& node, phold_rules rules) {
  if (node.now() >= nanoseconds(rules.until_ns)) return;
  random_state& random = node.state<random_state>();
  const nanoseconds delay(static_cast<std::int64_t>(-std::log(random.uniform()) * static_cast<double>(rules.mean_ns)));
  const coordinates& grid = node.machine().grid;
  coordinates destination = node.at();
  if (random.uniform() <= static_cast<double>(rules.remote)) {
    const std::uint64_t nodes = node.machine().nodes();
    const auto x = static_cast<std::uint64_t>(grid.x);
    const auto y = static_cast<std::uint64_t>(grid.y);
    std::uint64_t target = random.next() % nodes;
    destination = {target % x, target / x % y, target / x / y};
    const bool whole = node.machine().missing.empty();
    for (; !whole && !node.exists(destination); destination = {target % x, target / x % y, target / x / y})
      target = (target + 1) % nodes;
  }
  // An event for its own node comes no sooner than one for another: it has the lookahead of a packet.
  if (destination == node.at()) return node.after<event>(node.machine().turn + delay, rules);
  node.send_after<event>(delay, destination, rules);
}

}  // namespace

program_result run_phold(nacre::runtime& rt, const nacre::emulated_machine& machine,
                         const program_parameters& parameters, const nacre::emulation_options& options) {
  const phold_rules rules{static_cast<float>(parameters.remote), static_cast<float>(parameters.mean.count()),
                          parameters.until.count()};
  const auto start = [&](emulated_node& node) {
    const coordinates& place = node.at();
    random_state& random = node.state<random_state>();
    random.word = parameters.seed * 0x2545f4914f6cdd1d + static_cast<std::uint64_t>(place.x) * 1'000'003 +
                  static_cast<std::uint64_t>(place.y) * 998'244'353 +
                  static_cast<std::uint64_t>(place.z) * 4'256'233'751;
    for (std::uint32_t k = 0; k < parameters.population; ++k) {
      node.after<event>(nanoseconds(static_cast<std::int64_t>(-std::log(random.uniform()) * parameters.mean.count())),
                        rules);
    }
  };
  return {nacre::emulate(rt, machine, start, options)};
}

}  // namespace emulate
