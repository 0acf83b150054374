// SPDX-License-Identifier: Apache-2.0
// Sums over the steps of a path, and its longest ones.
#include "emulator/path_pieces.hpp"

#include <algorithm>
#include <cstddef>
#include <tuple>

namespace nacre::emulator {
namespace {

constexpr std::size_t longest_max = 20;

void keep_longest(std::vector<critical_step>& steps, std::size_t room) {
  if (steps.size() <= room) return;
  // Start and node tell all steps of a path apart, so what is kept does not depend on the order of adding.
  const auto longer = [](const critical_step& a, const critical_step& b) {
    return std::tuple(b.part(), a.start, a.at) < std::tuple(a.part(), b.start, b.at);
  };
  std::nth_element(steps.begin(), steps.begin() + longest_max, steps.end(), longer);
  steps.resize(longest_max);
}

}  // namespace

void add_step(critical_path& critical_path, const critical_step& step) {
  ++critical_path.handlers;
  critical_path.waits += step.waited ? 1 : 0;
  critical_path.running += step.cost;
  critical_path.under_way += step.before;
  critical_path.longest.push_back(step);
  keep_longest(critical_path.longest, 4 * longest_max);
}

void add_part(critical_path& target, const critical_path& part) {
  target.handlers += part.handlers;
  target.waits += part.waits;
  target.running += part.running;
  target.under_way += part.under_way;
  target.longest.insert(target.longest.end(), part.longest.begin(), part.longest.end());
  keep_longest(target.longest, 4 * longest_max);
}

void complete(critical_path& path) {
  keep_longest(path.longest, longest_max);
  std::sort(path.longest.begin(), path.longest.end(), [](const critical_step& a, const critical_step& b) {
    return std::tuple(a.start, a.at) < std::tuple(b.start, b.at);
  });
}

}  // namespace nacre::emulator
