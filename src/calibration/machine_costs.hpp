// SPDX-License-Identifier: Apache-2.0
// Everything that is measured of a machine, and the machine file that follows from it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "calibration/cost_table.hpp"
#include "calibration/look_costs.hpp"
#include "calibration/sample.hpp"

namespace nacre::calibration {

struct move_time {
  std::uint32_t bytes = 0;
  double one_way_us = 0;
};

struct machine_costs {
  std::uint32_t cores = 1;                     ///< that this process may use
  double cached_copy = 0, memory_copy = 0;     ///< bytes a second of memcpy, within a cache and beyond all caches
  double local_message_ns = 0;                 ///< of one object to another of its rank, sent and run
  std::map<std::string, double> runtime_ns{};  ///< by the names of measure_costs
  look_costs look{};
  std::vector<sample> processes{};  ///< messages between ranks in two processes, over shm
  std::vector<sample> threads{};    ///< messages between ranks of one process, over inproc
  std::vector<move_time> moves{};   ///< objects that move between two processes
};

/// A simulated machine that takes as long.
struct fitted_machine {
  cost_rows rows{};                            ///< options of the simulator
  std::vector<sample> processes{}, threads{};  ///< its messages, in virtual time
};
[[nodiscard]] fitted_machine fit(const machine_costs& measured);

/// The content of a machine file: a node of the emulator for each core, and all options of the simulator.
[[nodiscard]] std::string machine_text(const machine_costs& measured, const fitted_machine& fitted);

}  // namespace nacre::calibration
