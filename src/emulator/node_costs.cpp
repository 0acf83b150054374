// SPDX-License-Identifier: Apache-2.0
// The times of memory accesses, and of floating-point operations on units that threads share.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <nacre/emulator.hpp>
#include <nacre/error.hpp>

namespace nacre {
namespace {

/// When the units of each processor of a node can begin another operation, in nanoseconds: the adder, the multiplier.
struct float_units {
  std::vector<std::array<std::int64_t, 2>> free_at;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(free_at);
  }
};

/// A charge that no product of two of its kind can make too large for 64 bits.
[[nodiscard]] std::int64_t bounded(std::uint64_t count) {
  constexpr std::uint64_t most = std::uint64_t{1} << 30;
  if (count > most) throw usage_error("a charge for " + std::to_string(count) + " operations: at most 2^30 at a time");
  return static_cast<std::int64_t>(count);
}

}  // namespace

void emulated_node::charge_accesses(const emulated_accesses& emulated_accesses) {
  const emulated_machine& m = machine();
  for (const auto& [count, cycles] : {std::pair(emulated_accesses.local_cache, m.local_cache_cycles),
                                      {emulated_accesses.local_memory, m.local_memory_cycles},
                                      {emulated_accesses.remote_cache, m.remote_cache_cycles},
                                      {emulated_accesses.remote_memory, m.remote_memory_cycles}}) {
    if (count != 0) charge(bounded(count) * (m.cycle * std::int64_t{cycles}));
  }
}

void emulated_node::charge_floats(const emulated_floats& emulated_floats) {
  const emulated_machine& m = machine();
  if (m.cycle.count() == 0) return;
  auto& units = state<float_units>().free_at;
  const std::size_t processor = thread() / m.processor_threads;
  if (units.size() <= processor) units.resize(processor + 1);
  const std::int64_t begins = now().count(), cycle = m.cycle.count();
  std::int64_t ends = begins;
  const std::array<std::int64_t, 2> counts{bounded(emulated_floats.additions),
                                           bounded(emulated_floats.multiplications)};
  for (std::size_t unit = 0; unit < counts.size(); ++unit) {
    if (counts[unit] == 0) continue;
    std::int64_t& free_at = units[processor][unit];
    free_at = std::max(free_at, begins) + counts[unit] * cycle;
    ends = std::max(ends, free_at + (m.float_cycles - 1) * cycle);
  }
  charge(std::chrono::nanoseconds(ends - begins));
}

}  // namespace nacre
