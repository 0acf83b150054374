// SPDX-License-Identifier: Apache-2.0
// Pairs in the first-level cache, by processor time.
#include "kernel_bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <vector>

#include "numerics/walk.hpp"

namespace nbody {
namespace {

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double pairs_a_second(const kernel_set& kernels, const walk_rules& rules) {
  constexpr int sources = 1024, targets = 64, runs = 300;
  std::vector<float> values(4 * sources + 7 * (targets + 16));
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = static_cast<float>(k * 37 % 101) * 0.01f;
  const float* source[4];
  float* target[7];
  for (std::size_t k = 0; k < 4; ++k) source[k] = values.data() + k * sources;
  for (std::size_t k = 0; k < 7; ++k) target[k] = values.data() + 4 * sources + k * (targets + 16);
  double best = 0;
  for (int repetition = 0; repetition < 20; ++repetition) {
    const double begin = processor_seconds();
    for (int run = 0; run < runs; ++run) kernels.pairs(source, sources, target, targets, rules);
    best = std::max(best, double{sources} * targets * runs / (processor_seconds() - begin));
  }
  return best;
}

}  // namespace

std::string bench_kernels() {
  // On the units that multiply: six multiply-and-adds, three products, the estimate of the root. Each counts as two of
  // the peak's operations, whether it adds or not; a step of Newton's method has four more.
  constexpr double plain = 20, refined = 28;
  std::string text = fmt::format("{:<10}{:>16}{:>14}{:>14}{:>10}{:>14}{:>14}{:>10}\n", "kernels", "peak, Gflop/s",
                                 "G pairs/s", "bound", "share", "refined", "bound", "share");
  for (const kernel_set* kernels : {&best_kernels(), &portable_kernels()}) {
    double peak = 0;
    for (int repetition = 0; repetition < 5; ++repetition) peak = std::max(peak, kernels->peak());
    walk_rules rules{.softening_squared = 1e-4f};
    const double fast = pairs_a_second(*kernels, rules);
    rules.refined = true;
    const double slow = pairs_a_second(*kernels, rules);
    text += fmt::format("{:<10}{:>16.1f}{:>14.2f}{:>14.2f}{:>9.0f}%{:>14.2f}{:>14.2f}{:>9.0f}%\n", kernels->name,
                        peak * 1e-9, fast * 1e-9, peak / plain * 1e-9, 100 * fast * plain / peak, slow * 1e-9,
                        peak / refined * 1e-9, 100 * slow * refined / peak);
  }
  return text;
}

}  // namespace nbody
