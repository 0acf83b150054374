// SPDX-License-Identifier: Apache-2.0
// Many simulated ranks in one process.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "operation.hpp"

namespace sweep {
namespace {

using nacre::rank_id;

void hear(std::uint64_t) {}

double start_and_end(std::uint64_t n) {
  const double begin = processor_seconds();
  run_job(simulated(n), [](nacre::runtime&, stopwatch&) {});
  return processor_seconds() - begin;
}

/// What `each` rank does, measured from when all have begun until rank 0 has ended it; the machine is one thread.
double on_all(std::uint64_t n, const std::function<void(nacre::runtime&)>& each) {
  return run_job(simulated(n), [&](nacre::runtime& rt, stopwatch& watch) {
    rt.barrier();
    if (rt.rank() == rank_id(0)) watch.start();
    each(rt);
    rt.wait_quiescence();
    if (rt.rank() == rank_id(0)) watch.stop();
  });
}

double barriers(std::uint64_t n) {
  return on_all(n, [](nacre::runtime& rt) {
    for (int times = 0; times < 10; ++times) rt.barrier();
  });
}
double reductions(std::uint64_t n) {
  return on_all(n, [](nacre::runtime& rt) {
    for (int times = 0; times < 10; ++times) static_cast<void>(rt.all_reduce(1, std::plus<>{}));
  });
}
double to_neighbours(std::uint64_t n) {
  return on_all(n, [](nacre::runtime& rt) {
    for (std::uint32_t number = 0; number < 100; ++number) {
      rt.send<hear>(rank_id((rt.rank().value() + 1 + number % 8) % rt.size()), number);
    }
  });
}
double to_anybody(std::uint64_t n) {
  return on_all(n, [](nacre::runtime& rt) {
    nacre::rng random = nacre::rng(1).fork(rt.rank().value());
    for (std::uint32_t number = 0; number < 100; ++number) {
      rt.send<hear>(rank_id(static_cast<std::uint32_t>(random.below(rt.size()))), number);
    }
  });
}
double to_all(std::uint64_t n) {
  return on_all(n, [](nacre::runtime& rt) {
    if (rt.rank() != rank_id(0)) return;
    for (std::uint32_t number = 0; number < 10; ++number) rt.send<hear>(nacre::to_all, number);
  });
}
double all_to_one(std::uint64_t n) {
  return on_all(n, [](nacre::runtime& rt) {
    for (std::uint32_t number = 0; number < 10; ++number) rt.send<hear>(rank_id(0), number);
  });
}
double idle(std::uint64_t n) {
  return on_all(n, [](nacre::runtime& rt) {
    for (int times = 0; times < 10; ++times) rt.wait_quiescence();
  });
}

}  // namespace

std::vector<operation> rank_operations() {
  constexpr std::uint64_t least = 100, most = 10'000;
  // By instructions these grow in proportion (see docs/performance.md); what a rank has is some 30 KB, of which a
  // message touches a few dozen cache lines in as many pages, and it is in no cache when its turn comes again.
  const std::string reason = "caches: a rank's 30 KB";
  constexpr double most_by_caches = 1.6;
  return {{"start and end of a job", "simulated ranks", start_and_end, least, most, most_by_caches, reason},
          {"barrier", "simulated ranks", barriers, least, most, most_by_caches, reason},
          {"all_reduce", "simulated ranks", reductions, least, most, most_by_caches, reason},
          {"wait_quiescence", "simulated ranks", idle, least, most, most_by_caches, reason},
          {"each sends 100 messages to 8 ranks", "simulated ranks", to_neighbours, least, most, most_by_caches, reason},
          {"each sends 100 messages to any ranks", "simulated ranks", to_anybody, least, most, most_by_caches, reason},
          {"one sends to all", "simulated ranks", to_all, least, most, most_by_caches, reason},
          {"all send to one", "simulated ranks", all_to_one, least, most, most_by_caches, reason}};
}

}  // namespace sweep
