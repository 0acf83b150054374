// SPDX-License-Identifier: Apache-2.0
// fork, and a pipe for the figure. This process has no threads of its own.
#include "apart.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <stdexcept>

namespace sweep {

std::optional<double> measured_apart(const std::function<double()>& measure, double seconds_max) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe to read from");
  std::fflush(stdout);
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("no process to measure in");
  if (child == 0) {
    close(ends[0]);
    int code = 1;
    try {
      const double seconds = measure();
      if (write(ends[1], &seconds, sizeof seconds) == sizeof seconds) code = 0;
    } catch (const std::exception& problem) {
      std::fprintf(stderr, "sweep: %s\n", problem.what());
    }
    _exit(code);
  }
  close(ends[1]);
  pollfd end{.fd = ends[0], .events = POLLIN, .revents = 0};
  double seconds = 0;
  const bool told = poll(&end, 1, static_cast<int>(seconds_max * 1000)) == 1 &&
                    read(ends[0], &seconds, sizeof seconds) == sizeof seconds;
  if (!told) kill(child, SIGKILL);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (!told) return std::nullopt;
  return seconds;
}

}  // namespace sweep
