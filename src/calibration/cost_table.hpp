// SPDX-License-Identifier: Apache-2.0
// A TOML file with costs of the simulated machine, to which each benchmark adds its rows.
#pragma once

#include <map>
#include <string>

namespace nacre::calibration {

/// Names of options and their values, as `sim.cost.send` and `40ns`.
using cost_rows = std::map<std::string, std::string>;

/// Nanoseconds as an option's value: rounded, and never below nought.
[[nodiscard]] std::string duration_text(double nanoseconds);

/// Writes the rows into `file`, for `--nacre.config=FILE`. What else the file has stays, but for comments; a row that
/// is there already is replaced. Throws std::runtime_error when it cannot be written.
void update_costs(const std::string& file, const cost_rows& rows);

/// The rows of such a file. Throws std::runtime_error when it cannot be read.
[[nodiscard]] cost_rows read_costs(const std::string& file);

}  // namespace nacre::calibration
