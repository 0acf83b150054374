// SPDX-License-Identifier: Apache-2.0
// Runs a program and reads its output: measurements that take ranks in processes of their own.
#pragma once

#include <string>
#include <vector>

namespace nacre::calibration {

/// How a launched command has ended.
struct outcome {
  int exit_code = 0;
  std::vector<std::string> lines{};  ///< of its standard output; errors go to that of this program
};

/// Runs a command, found on PATH if it has no slash, and waits for it. Throws std::runtime_error if none can be
/// started.
[[nodiscard]] outcome run_command(const std::vector<std::string>& command);

}  // namespace nacre::calibration
