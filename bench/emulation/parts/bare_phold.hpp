// SPDX-License-Identifier: Apache-2.0
// PHOLD without an emulator: one loop over one pending set, to measure what an emulator adds to it.
#pragma once

#include <cstdint>

namespace emulation_study {

struct phold_shape {
  std::uint32_t nodes = 1'000'000;  ///< each begins with one event
  double remote = 0.1;              ///< share of events for another node
  std::int64_t lookahead_ns = 100, mean_ns = 1'000, until_ns = 10'000;
  std::uint64_t seed = 1;
};

struct phold_outcome {
  std::uint64_t events = 0;
  double seconds = 0;  ///< of the wall clock
  [[nodiscard]] double rate() const noexcept { return static_cast<double>(events) / seconds; }
};

/// The pending set is a binary heap (std::priority_queue).
[[nodiscard]] phold_outcome run_with_heap(const phold_shape& phold_shape);

/// The pending set is a wheel with a bucket for each nanosecond; ties are in the order of insertion.
[[nodiscard]] phold_outcome run_with_wheel(const phold_shape& phold_shape);

}  // namespace emulation_study
