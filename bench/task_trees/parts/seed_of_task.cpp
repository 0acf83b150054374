// SPDX-License-Identifier: Apache-2.0
// Costs and children out of random numbers.
#include "task_trees/parts/seed_of_task.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace task_trees {
namespace {

constexpr double heavy_exponent = 1.5;
constexpr double heavy_cut = 100;

}  // namespace

double cost_of(const program& program, std::uint64_t number) {
  nacre::rng random = nacre::rng(program.seed).fork(number);
  const double u = 1 - random.uniform();  // in (0, 1]
  switch (program.law) {
    case law::equal:
      return program.mean_seconds;
    case law::exponential:
      return -std::log(u) * program.mean_seconds;
    case law::heavy:
      return std::min(std::pow(u, -1 / heavy_exponent) * (1 - 1 / heavy_exponent), heavy_cut) * program.mean_seconds;
  }
  return 0;
}

std::uint32_t split(const program& program, const seed_of_task& subject,
                    std::array<seed_of_task, children_max>& seed_of_tasks) {
  const std::uint64_t below = subject.tasks - 1;
  if (program.shape == shape::bag || below == 0) return 0;
  nacre::rng random = nacre::rng(program.seed ^ 0x9e3779b97f4a7c15).fork(subject.number);
  const auto count = static_cast<std::uint32_t>(std::min<std::uint64_t>(1 + random.below(children_max), below));
  std::array<std::uint64_t, children_max + 1> cuts{};
  for (std::uint32_t k = 1; k < count; ++k) cuts[k] = random.below(below - count + 1);
  cuts[count] = below - count;
  std::sort(cuts.begin(), cuts.begin() + count);
  for (std::uint32_t k = 0; k < count; ++k) {
    seed_of_tasks[k] = {random.next(), 1 + cuts[k + 1] - cuts[k]};
  }
  return count;
}

}  // namespace task_trees
