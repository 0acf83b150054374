// SPDX-License-Identifier: Apache-2.0
// Jobs of several processes: a benchmark starts itself again under a launcher and reads what its rank 0 prints.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "calibration/command.hpp"

namespace bench {

using nacre::calibration::outcome;
using nacre::calibration::run_command;

/// The folder of the running program.
[[nodiscard]] std::filesystem::path own_folder();

/// Whether there is a program of this name on PATH.
[[nodiscard]] bool on_path(const std::string& name);

/// What the main of a benchmark does that starts itself again as the ranks of jobs: as such a rank it serves, else it
/// measures each transport, and says whether that was complete.
struct roles {
  std::function<int()> serve;
  std::function<bool(const std::string& transport)> measure;
};
/// The exit code of the process. A problem is one line on standard error, after `name`.
[[nodiscard]] int act(const char* name, bool as_job, const std::vector<std::string>& transports, const roles& roles);

/// How a job is started, or why it cannot be: the words before those of the program.
struct launcher {
  std::vector<std::string> words{};
  std::string missing{};  ///< empty if all is there
};

/// `transport` is shm, tcp, udp, auto, ucx, openmpi or mpich; `folder` has the programs of the build.
[[nodiscard]] launcher launcher_of(const std::string& transport, int ranks,
                                   const std::filesystem::path& folder = own_folder());

}  // namespace bench
