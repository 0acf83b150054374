// SPDX-License-Identifier: Apache-2.0
// The measurements of `nacre calibrate` that take ranks in processes of their own: the command starts itself again.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "calibration/machine_costs.hpp"
#include "calibration/sample.hpp"

namespace nacre::tool {

/// As one of these ranks: measures `name`, and rank 0 prints the results. Returns the exit code.
[[nodiscard]] int serve_calibration(const std::string& name, bool quick);

/// The sizes in which messages are measured.
[[nodiscard]] std::vector<std::size_t> calibrated_sizes(bool quick);

/// Each starts such ranks over shm and reads their results. Each throws setup_error when the ranks fail.
[[nodiscard]] std::map<std::string, double> runtime_ns_of_processes(bool quick);
[[nodiscard]] std::vector<calibration::sample> messages_of_processes(bool quick);
[[nodiscard]] std::vector<calibration::move_time> moves_of_processes(bool quick);

}  // namespace nacre::tool
