// SPDX-License-Identifier: Apache-2.0
// `nacre replay`: a recorded load under any balancer, on a simulated machine, without the program.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "balance/load/load_trace.hpp"

namespace CLI {
class App;
}

namespace nacre::tool {

/// The simulated machine and the balancer.
struct replay_options {
  std::string balancer = "none";
  std::string load = "measured";  ///< --nacre.balance.load
  std::uint32_t ranks = 0;        ///< 0: as many as were recorded
  std::uint32_t workers = 0;      ///< of each rank; 0: as recorded
  std::uint64_t seed = 1;
  std::vector<std::string> settings{};  ///< further options of Nacre, each "name=value"
};

/// The result of replaying one recorded interval. Seconds are virtual.
struct replayed_interval {
  std::uint32_t number = 0;
  double seconds = 0;    ///< until all its work was done
  double work = 0;       ///< seconds, summed over all workers
  double imbalance = 0;  ///< `seconds`, divided by the time if all workers worked all the time
  std::uint64_t moves = 0;
  std::uint64_t bytes = 0;  ///< sent by all ranks
};

/// Every object begins on the rank on which it first did real work; a rank on which it was only made does not count.
/// With another number of ranks it begins at the same fraction of them: rank 2 of 4 becomes 4 or 5 of 8. From then on
/// only the balancer moves it; recorded moves are not replayed. An interval begins when the one before has ended
/// everywhere. Then every object gets as many messages as it ran in that interval, at most 64, and they take as long in
/// total. Equal traces, options and seeds give equal results. Throws setup_error for invalid options.
[[nodiscard]] std::vector<replayed_interval> replay(const balance::load_trace& trace, const replay_options& options);

[[nodiscard]] std::string replay_text(const std::vector<replayed_interval>& replayed_intervals);
/// How long the recorded run took, to within an interval.
[[nodiscard]] std::string recorded_text(const balance::load_trace& trace);
/// A JSON object with "recorded" (null when the trace is empty) and "intervals".
[[nodiscard]] std::string replay_json(const std::vector<replayed_interval>& replayed_intervals,
                                      const balance::load_trace& trace);

/// The arguments of the command.
struct replay_arguments {
  std::string file{};
  replay_options options{};
  bool json = false;
};
CLI::App* add_replay(CLI::App& app, replay_arguments& given);
/// Reads the file and prints the result. Throws setup_error.
void run_replay(const replay_arguments& given);

}  // namespace nacre::tool
