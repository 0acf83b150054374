// SPDX-License-Identifier: Apache-2.0
// What the user sees of the ladder: a table, JSON for programs, and a plot.
#pragma once

#include <string>

#include "figures.hpp"

namespace ladder {

void print_table(const figures& measured, int runs);

/// Writes a file; throws std::runtime_error when it cannot.
void write_json(const figures& measured, int runs, const std::string& path);
void write_plot(const figures& measured, const std::string& path);

}  // namespace ladder
