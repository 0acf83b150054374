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

/// On what machine, and with which balancer.
struct replay_options {
  std::string balancer = "none";
  std::string load = "measured";  ///< --nacre.balance.load
  std::uint32_t ranks = 0;        ///< 0: as many as were recorded
  std::uint32_t workers = 0;      ///< of each rank; 0: as recorded
  std::uint64_t seed = 1;
  std::vector<std::string> settings{};  ///< further options of Nacre, each "name=value"
};

/// What one recorded interval has become. Seconds are virtual.
struct replayed_interval {
  std::uint32_t number = 0;
  double seconds = 0;    ///< until all its work was done
  double work = 0;       ///< seconds of workers, all together
  double imbalance = 0;  ///< seconds, in units of what they would be if all workers worked all the time
  std::uint64_t moves = 0;
  std::uint64_t bytes = 0;  ///< that all ranks have sent
};

/// Every object begins on the rank on which it first worked, or, on another number of ranks, on one in the same place
/// among all; not where it was only made, if it did next to nothing there. From then on the balancer alone moves it,
/// wherever it was moved when it was recorded. Each interval begins when the one before has ended everywhere; then
/// every object gets the messages that it ran in it, which take as long. The same trace, options and seed give the same
/// result. Throws setup_error for options that cannot be.
[[nodiscard]] std::vector<replayed_interval> replay(const balance::load_trace& trace, const replay_options& how);

[[nodiscard]] std::string replay_text(const std::vector<replayed_interval>& what);
/// How long the recorded run took, to within an interval.
[[nodiscard]] std::string recorded_text(const balance::load_trace& trace);
/// Both in one object: "recorded" (null when the trace is empty) and "intervals".
[[nodiscard]] std::string replay_json(const std::vector<replayed_interval>& what, const balance::load_trace& trace);

/// The arguments of the command.
struct replay_arguments {
  std::string file{};
  replay_options how{};
  bool json = false;
};
CLI::App* add_replay(CLI::App& app, replay_arguments& given);
/// Reads the file and prints the result. Throws setup_error.
void run_replay(const replay_arguments& given);

}  // namespace nacre::tool
