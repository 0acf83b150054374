// SPDX-License-Identifier: Apache-2.0
// The kernels as functions, for the instruction set that a source is compiled for.
#pragma once

#include <time.h>

#include "walk_lanes.hpp"

namespace nbody {
namespace {

template <int Order>
void walk_branch(const walk_task& task, walk_memory& memory, walk_counts& counts) {
  walk_of_order<Order>(task, memory, counts).run();
}

inline double seconds_now() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Twelve chains of multiply-and-add keep all units busy.
inline double measured_peak() {
  constexpr int chains = 12, rounds = 4000000;
  lanes sums[chains];
  for (int k = 0; k < chains; ++k) sums[k] = spread(1.0f + 0.01f * static_cast<float>(k));
  const lanes factor = spread(0.9999f), term = spread(1e-4f);
  const double begin = seconds_now();
  for (int round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (int k = 0; k < chains; ++k) sums[k] = sums[k] * factor + term;
  }
  const double seconds = seconds_now() - begin;
  lanes all{};
  for (int k = 0; k < chains; ++k) all += sums[k];
  const volatile float seen = sum_of(all);
  static_cast<void>(seen);
  return 2.0 * chains * rounds * lane_count / seconds;
}

constexpr kernel_set kernels_named(const char* name) {
  return {name, {walk_branch<3>, walk_branch<4>, walk_branch<5>, walk_branch<6>}, add_pairs, measured_peak, lane_count};
}

}  // namespace
}  // namespace nbody
