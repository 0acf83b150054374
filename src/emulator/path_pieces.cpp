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

void add_step(critical_path& to, const critical_step& step) {
  ++to.handlers;
  to.waits += step.waited ? 1 : 0;
  to.running += step.cost;
  to.under_way += step.before;
  to.longest.push_back(step);
  keep_longest(to.longest, 4 * longest_max);
}

void add_part(critical_path& to, const critical_path& part) {
  to.handlers += part.handlers;
  to.waits += part.waits;
  to.running += part.running;
  to.under_way += part.under_way;
  to.longest.insert(to.longest.end(), part.longest.begin(), part.longest.end());
  keep_longest(to.longest, 4 * longest_max);
}

void complete(critical_path& path) {
  keep_longest(path.longest, longest_max);
  std::sort(path.longest.begin(), path.longest.end(), [](const critical_step& a, const critical_step& b) {
    return std::tuple(a.start, a.at) < std::tuple(b.start, b.at);
  });
}

}  // namespace nacre::emulator
