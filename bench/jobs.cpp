// SPDX-License-Identifier: Apache-2.0
// Starts commands, and knows the launchers of each transport.
#include "jobs.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

namespace bench {

std::filesystem::path own_folder() { return std::filesystem::read_symlink("/proc/self/exe").parent_path(); }

bool on_path(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string each; std::getline(folders, each, ':');) {
    if (access((each + "/" + name).c_str(), X_OK) == 0) return true;
  }
  return false;
}

launcher launcher_of(const std::string& transport, int ranks, const std::filesystem::path& folder) {
  const std::string count = std::to_string(ranks);
  if (transport == "ucx" && !std::filesystem::exists(folder / "nacre_ucx.so")) {
    return {{}, "this build has no module for UCX: install libucx-dev and configure again"};
  }
  if (transport == "shm" || transport == "tcp" || transport == "udp" || transport == "auto" || transport == "ucx") {
    const std::string nacre = folder / "nacre";
    if (access(nacre.c_str(), X_OK) != 0)
      return {{}, "no " + nacre + " to start ranks: build the target nacre_command"};
    return {{nacre, "run", "-n", count, "--transport", transport}, {}};
  }
  if (!std::filesystem::exists(folder / ("nacre_mpi_" + transport + ".so"))) {
    return {{}, "this build has no module for " + transport + ": install lib" + transport + "-dev and configure again"};
  }
  if (const std::string mpirun = "mpirun." + transport; on_path(mpirun)) {
    if (transport == "mpich") return {{mpirun, "-n", count}, {}};
    // Ranks poll beside a thread of the application, so they must not be tied to one core each.
    return {{mpirun, "--oversubscribe", "--allow-run-as-root", "--bind-to", "none", "-n", count}, {}};
  }
  return {{}, "no mpirun." + transport + " on PATH"};
}

int act(const char* name, bool as_job, const std::vector<std::string>& transports, const roles& roles) {
  try {
    if (as_job) return roles.serve();
    bool complete = true;
    for (const std::string& transport : transports) complete = roles.measure(transport) && complete;
    return complete ? 0 : 1;
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "%s: %s\n", name, problem.what());
    return 1;
  }
}

}  // namespace bench
