// SPDX-License-Identifier: Apache-2.0
// What the runtime's own work takes, one row of the simulator's table after the other.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include <nacre/nacre.hpp>

#include "calibration/cost_table.hpp"

namespace nacre::calibration {

/// Options of the job of three ranks over shm that measures.
[[nodiscard]] std::vector<std::string> cost_job_options();

inline constexpr int usual_rounds = 41;
/// As each rank of that job: rank 0 tells the low deciles of so many rounds by name, in nanoseconds of the
/// processor for the thread that did the work.
void measure_costs(runtime& rt, int rounds, const std::function<void(const std::string& name, double ns)>& tell);

/// The rows of the table that follow from those figures, and from `idle_message_ns`, of one message to an idle object
/// of the own rank.
[[nodiscard]] cost_rows rows_of(const std::map<std::string, double>& measured, double idle_message_ns);

}  // namespace nacre::calibration
