// SPDX-License-Identifier: Apache-2.0
// What --work makes an operation of a program cost.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include <nacre/emulator.hpp>
#include <nacre/error.hpp>

namespace emulate {

/// Charges `count` operations of `work_ns` each. Throws usage_error, with both numbers, where that is longer than
/// virtual time.
inline void charge_work(nacre::emulated_node& node, std::int64_t work_ns, std::uint64_t count) {
  constexpr std::int64_t most_ns = std::int64_t{1} << 61;  // the emulator has no longer charges
  if (work_ns > 0 && count > static_cast<std::uint64_t>(most_ns / work_ns)) {
    throw nacre::usage_error("a charge for " + std::to_string(count) + " operations of --work, " +
                             std::to_string(work_ns) + " ns each, is longer than virtual time: try a shorter --work");
  }
  node.charge(std::chrono::nanoseconds(work_ns * static_cast<std::int64_t>(count)));
}

}  // namespace emulate
