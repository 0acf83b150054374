// SPDX-License-Identifier: Apache-2.0
// Measures what a wire does with its keys, by the processor time of this thread.
#include "key_costs.hpp"

#include <algorithm>
#include <ctime>
#include <utility>
#include <vector>

#include "wire.hpp"

namespace netsort {
namespace {

double processor_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// The least seconds that `act(n)` takes of some stretches of several calls.
template <class Act>
double least_seconds(std::uint32_t keys, Act&& act) {
  constexpr std::uint32_t stretches = 20, keys_a_stretch = 50'000;
  const std::uint32_t calls = std::max(1u, keys_a_stretch / keys);
  double least = 1e300;
  for (std::uint32_t stretch = 0; stretch < stretches; ++stretch) {
    const double begin = processor_seconds();
    for (std::uint32_t call = 0; call < calls; ++call) act(stretch * calls + call);
    least = std::min(least, (processor_seconds() - begin) / calls);
  }
  return least;
}

}  // namespace

key_costs measured_key_costs(std::uint32_t keys) {
  key_costs found;
  std::vector<key> made;
  found.begin = least_seconds(keys, [&](std::uint32_t wire) { made = sorted_keys_of_wire(1, wire, keys); }) / keys;
  const std::vector<key> other = sorted_keys_of_wire(2, 0, keys);
  found.merge = least_seconds(keys, [&](std::uint32_t call) { made = half_of(made, other, call % 2 == 0); }) / keys / 2;
  return found;
}

}  // namespace netsort
