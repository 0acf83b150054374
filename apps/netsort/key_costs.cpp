// SPDX-License-Identifier: Apache-2.0
// Measures what a wire does with its keys, by the processor time of this thread.
#include "key_costs.hpp"

#include <algorithm>
#include <ctime>
#include <vector>

#include "network.hpp"
#include "wire.hpp"

namespace netsort {
namespace {

double processor_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// The least seconds that `act` takes of some calls.
template <class Act>
double least_seconds(Act&& act) {
  constexpr int calls = 9;
  double least = 1e300;
  for (int call = 0; call < calls; ++call) {
    const double begin = processor_seconds();
    act();
    least = std::min(least, processor_seconds() - begin);
  }
  return least;
}

/// Sorts all wires in one loop.
void sort_all(std::vector<std::vector<key>> wires) {
  const network network(static_cast<std::uint32_t>(wires.size()));
  for (std::uint32_t step = 0; step < network.steps(); ++step) {
    std::vector<std::vector<key>> next(wires.size());
    for (std::uint32_t number = 0; number < wires.size(); ++number) {
      const comparator comparator = network.at(number, step);
      next[number] = half_of(wires[number], wires[number ^ comparator.distance], comparator.keeps_low);
    }
    wires.swap(next);
  }
}

}  // namespace

key_costs measured_key_costs(std::uint32_t wires, std::uint32_t keys) {
  // Some wires and all steps: merging costs more the less two wires are in order, so it differs from step to step.
  constexpr std::uint32_t wires_max = 64;
  const std::uint32_t few = std::min(wires, wires_max);
  std::vector<std::vector<key>> all(few);
  const double begin = least_seconds([&] {
    for (std::uint32_t wire = 0; wire < few; ++wire) all[wire] = sorted_keys_of_wire(1, wire, keys);
  });
  const double sorted = least_seconds([&] { sort_all(all); });
  const double each = static_cast<double>(few) * keys;
  return {.merge = sorted / (2 * each * network(few).steps()), .begin = begin / each};
}

}  // namespace netsort
