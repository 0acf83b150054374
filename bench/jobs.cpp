// SPDX-License-Identifier: Apache-2.0
// Starts commands, and knows the launchers of each transport.
#include "jobs.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

namespace bench {

outcome run_command(const std::vector<std::string>& command) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe to read from");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  posix_spawn_file_actions_addclose(&actions, ends[1]);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", 0, 0);
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  pid_t id = 0;
  const int error = posix_spawnp(&id, words[0], &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (error != 0) {
    close(ends[0]);
    throw std::runtime_error("cannot start " + command[0]);
  }
  std::string text;
  char buffer[4096];
  for (ssize_t got = 0; (got = read(ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(got));
  close(ends[0]);
  int status = 0;
  waitpid(id, &status, 0);
  outcome result{.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status)};
  std::istringstream lines(text);
  for (std::string each; std::getline(lines, each);) result.lines.push_back(each);
  return result;
}

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

int act(const char* name, bool as_job, const std::vector<std::string>& transports, const roles& of) {
  try {
    if (as_job) return of.serve();
    bool complete = true;
    for (const std::string& transport : transports) complete = of.measure(transport) && complete;
    return complete ? 0 : 1;
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "%s: %s\n", name, problem.what());
    return 1;
  }
}

}  // namespace bench
