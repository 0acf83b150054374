// SPDX-License-Identifier: Apache-2.0
// Jobs in which operations are measured.
#include <sys/resource.h>

#include <cstdint>
#include <ctime>
#include <functional>
#include <stdexcept>
#include <string>

#include "operation.hpp"

namespace sweep {

double processor_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  rusage children{};
  ::getrusage(RUSAGE_CHILDREN, &children);
  return static_cast<double>(now.tv_sec + children.ru_utime.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9 +
         static_cast<double>(children.ru_utime.tv_usec) * 1e-6;
}

double run_job(const settings& tuning, const std::function<void(nacre::runtime&, stopwatch&)>& main) {
  nacre::config configuration;
  configuration.set("workers", "1");
  for (const auto& [name, value] : tuning) configuration.set(name, value);
  stopwatch watch;
  if (nacre::run(configuration, [&](nacre::runtime& rt) { main(rt, watch); }) != 0)
    throw std::runtime_error("a job failed");
  return watch.seconds();
}

settings one_rank() { return {{"balancer", "none"}, {"progress", "shared"}}; }

settings simulated(std::uint64_t ranks) {
  return {{"transport", "sim"}, {"ranks", std::to_string(ranks)}, {"balancer", "none"}};
}

}  // namespace sweep
