// SPDX-License-Identifier: Apache-2.0
// Which transports the tests of several processes can use in this build, and how their ranks are started.
#pragma once

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/sanitized.hpp"
#include "jobs.hpp"

namespace nacre::tests {

/// UCX and the MPIs are libraries of others, which were compiled without sanitizers.
[[nodiscard]] inline bool is_foreign(std::string_view transport) {
  return transport == "ucx" || transport == "openmpi" || transport == "mpich";
}

/// The words that start ranks over shm, tcp, udp, auto, ucx, openmpi or mpich, or what is missing.
[[nodiscard]] inline bench::launcher start_of(const std::string& transport, int ranks) {
#if NACRE_UNDER_TSAN
  if (is_foreign(transport)) return {{}, "the thread sanitizer does not see what " + transport + " synchronises"};
#endif
  return bench::launcher_of(transport, ranks, NACRE_BIN_DIR);
}

/// What keeps jobs from using ucx; empty: nothing.
[[nodiscard]] inline std::string missing_for_ucx() { return start_of("ucx", 1).missing; }

/// Those of `always`, and ucx if jobs can use it.
[[nodiscard]] inline std::vector<std::string> and_ucx(std::vector<std::string> always) {
  if (missing_for_ucx().empty()) always.emplace_back("ucx");
  return always;
}

/// What they never release is not ours to find. For commands that are started afterwards.
inline void ignore_foreign_leaks(std::string_view transport) {
  if (is_foreign(transport)) ::setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
}

}  // namespace nacre::tests
