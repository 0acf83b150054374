// SPDX-License-Identifier: Apache-2.0
// What the programs that step share: how they spend time, and what they print of a run.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <steady_seconds.hpp>

#include <nacre/nacre.hpp>

namespace defaults {

/// Spends the time of a handler: virtual time on a simulated machine, else this processor's.
inline void spend(nacre::context& ctx, double seconds, bool simulated) {
  if (simulated) return ctx.charge(seconds);
  for (const double end = bench::steady_seconds() + seconds; bench::steady_seconds() < end;) {
  }
}

/// One run, of all ranks. Messages are those between ranks, of every kind.
struct outcome {
  double seconds = 0;  ///< rank 0 alone knows them
  std::uint64_t messages = 0, moves = 0;
  bool is_right = true;  ///< all steps have been made; rank 0 alone knows it
};

/// Collective: what all ranks have sent and moved since their `rank_counters`.
inline outcome counted(nacre::runtime& rt, const nacre::rank_counters& rank_counters) {
  const nacre::rank_counters now = rt.counters();
  return {.messages = rt.all_reduce(now.messages_sent - rank_counters.messages_sent, std::plus<>{}),
          .moves = rt.all_reduce(now.migrations_out - rank_counters.migrations_out, std::plus<>{})};
}

/// `work`: seconds of all workers together that the program itself has spent. Returns found.is_right.
inline bool print(const char* name, const outcome& outcome, double work, const nacre::runtime& rt) {
  const double ideal = work / (static_cast<double>(rt.size()) * rt.workers());
  std::printf("%s: took %.6f s, ideal %.6f s, took / ideal %.3f, messages %llu, moves %llu\n", name, outcome.seconds,
              ideal, outcome.seconds / ideal, static_cast<unsigned long long>(outcome.messages),
              static_cast<unsigned long long>(outcome.moves));
  if (!outcome.is_right) std::fprintf(stderr, "%s: some steps are missing\n", name);
  return outcome.is_right;
}

}  // namespace defaults
