// SPDX-License-Identifier: Apache-2.0
// The curves of the DVCM paper's figures 2, 3 and 4.
#pragma once

#include <string>

#include "plan.hpp"
#include "runs.hpp"

namespace incast {

/// Prints them, and draws them into `svg` unless it is empty. Returns the exit code of the program.
[[nodiscard]] int draw_figures(const plan& how, network over, const std::string& svg);
/// Replaces this process by one in a star of namespaces that runs the same command, unless it is in one already. Throws
/// std::runtime_error that says what is missing.
void enter_star(int argc, char** argv, const plan& how);

}  // namespace incast
