// SPDX-License-Identifier: Apache-2.0
// Starts one process of a job and holds its process id and its output pipes.
#include "tool/rank_process.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include <nacre/error.hpp>

namespace nacre::tool {
namespace {

using net::error_text;

struct pipe_ends {
  unique_fd read;
  unique_fd write;
};

[[noreturn]] void refuse_process(const std::string& problem, const std::string& remedy) {
  throw setup_error({.problem = problem, .why = "nacre run starts a process for each rank", .remedy = remedy});
}

pipe_ends make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    refuse_process("cannot make a pipe: " + error_text(errno),
                   "raise the limit of open files (ulimit -n), or start fewer ranks");
  }
  return {.read = unique_fd(ends[0]), .write = unique_fd(ends[1])};
}

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const std::string& each : texts) result.push_back(const_cast<char*>(each.c_str()));
  result.push_back(nullptr);
  return result;
}

/// Runs between fork and exec, so it makes only async-signal-safe calls. Returns only on failure, with errno set.
void become(const char* path, char* const* arguments, char* const* environment, const inheritance& inheritance,
            int output, int error, pid_t launcher) noexcept {
  if (::setpgid(0, 0) != 0 || ::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return;
  if (::getppid() != launcher) ::_exit(1);  // the launcher died before PR_SET_PDEATHSIG was set
  const int input =
      inheritance.standard_input >= 0 ? inheritance.standard_input : ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (::dup2(output, STDOUT_FILENO) < 0 || ::dup2(error, STDERR_FILENO) < 0) return;
  if (input == STDIN_FILENO ? ::fcntl(input, F_SETFD, 0) < 0 : ::dup2(input, STDIN_FILENO) < 0) return;
  if (inheritance.kept >= 0 && ::fcntl(inheritance.kept, F_SETFD, 0) < 0) return;
  ::signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execve(path, arguments, environment);
}

[[noreturn]] void explain(const command& command, int error) {
  const std::string problem = "cannot run '" + command.path + "': " + error_text(error);
  if (error == ENOEXEC)
    refuse_process(problem, "a script begins with a line such as #!/bin/sh, a program is built for this processor");
  if (error == ENOENT)
    refuse_process(problem, "the interpreter that its first line names, or its loader, does not exist");
  if (error == EAGAIN || error == ENOMEM) refuse_process(problem, "start fewer ranks");
  refuse_process(problem, "check its permissions");
}

}  // namespace

rank_process start_process(const command& command, const inheritance& inheritance) {
  pipe_ends output = make_pipe();
  pipe_ends error = make_pipe();
  pipe_ends trouble = make_pipe();  // exec closes it; a failed exec writes errno to it
  const std::vector<char*> arguments = pointers_to(command.arguments);
  const std::vector<char*> environment = pointers_to(command.environment);
  const pid_t launcher = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) explain(command, errno);
  if (pid == 0) {
    become(command.path.c_str(), arguments.data(), environment.data(), inheritance, output.write.get(),
           error.write.get(), launcher);
    const int number = errno;
    [[maybe_unused]] const ssize_t told = ::write(trouble.write.get(), &number, sizeof number);
    ::_exit(127);
  }
  trouble.write.reset();
  int number = 0;
  ssize_t told = 0;
  do told = ::read(trouble.read.get(), &number, sizeof number);
  while (told < 0 && errno == EINTR);
  if (told == sizeof number) {
    ::waitpid(pid, nullptr, 0);
    explain(command, number);
  }
  ::fcntl(output.read.get(), F_SETFL, O_NONBLOCK);
  ::fcntl(error.read.get(), F_SETFL, O_NONBLOCK);
  return {.pid = pid, .output = std::move(output.read), .error = std::move(error.read)};
}

}  // namespace nacre::tool
