// SPDX-License-Identifier: Apache-2.0
// The curves of the DVCM paper's figures 2, 3 and 4.
#pragma once

#include <string>

#include "plan.hpp"
#include "runs.hpp"

namespace incast {

/// Where curves go beside standard output; empty: nowhere.
struct figure_files {
  std::string svg{}, json{};
};

/// Prints them, medians of so many runs for each point, and writes the files. Returns the exit code of the program.
[[nodiscard]] int draw_figures(const plan& plan, network network, int runs, const figure_files& figure_files);
/// Replaces this process by one in a star of namespaces that runs the same command, unless it is in one already. Throws
/// std::runtime_error that says what is missing.
void enter_star(int argc, char** argv, const plan& plan);

}  // namespace incast
