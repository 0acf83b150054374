// SPDX-License-Identifier: Apache-2.0
// Reads from a pipe which process groups live, and kills them at end of file.
#include "tool/orphan_killer.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <vector>

#include <nacre/error.hpp>

#include "tool/ucx_folder.hpp"

namespace nacre::tool {
namespace {

/// Closes every descriptor but `kept`, so that no pipe or socket of the launcher stays open after the launcher.
void close_all_but(int kept) {
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int each : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nothing, each);
  const int words = ::dup2(kept, STDERR_FILENO + 1);
  if (words >= 0 && ::syscall(SYS_close_range, words + 1, ~0U, 0) == 0) return;
  for (int each = STDERR_FILENO + 2; each < static_cast<int>(::sysconf(_SC_OPEN_MAX)); ++each) ::close(each);
}

/// Keeps the list of groups until end of file, then kills them. The kernel itself kills the launcher's own children.
[[noreturn]] void watch(int words, const std::string& folder) {
  std::vector<pid_t> groups;
  for (pid_t word = 0;;) {
    const ssize_t bytes = ::read(words, &word, sizeof word);  // a write of fewer than PIPE_BUF bytes is atomic
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes != sizeof word) break;
    if (word > 0) groups.push_back(word);
    if (word < 0) std::erase(groups, -word);
  }
  for (const pid_t each : groups) ::kill(-each, SIGKILL);
  ucx_folder::remove(folder);
  ::_exit(EXIT_SUCCESS);
}

}  // namespace

orphan_killer::orphan_killer(const std::string& folder) {
  std::array<int, 2> ends{-1, -1};
  const bool is_made = ::pipe2(ends.data(), O_CLOEXEC) == 0;
  const net::unique_fd read_end(ends[0]);
  words_.reset(ends[1]);
  pid_ = is_made ? ::fork() : -1;
  if (pid_ < 0) {
    throw setup_error({.problem = "cannot start a process: " + net::error_text(errno),
                       .why = "one more watches that no rank outlives its launcher",
                       .remedy = "start fewer ranks, or raise the limit of processes (ulimit -u)"});
  }
  if (pid_ > 0) return;
  ::setsid();
  ::prctl(PR_SET_NAME, "nacre orphans");
  for (const int each : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::signal(each, SIG_IGN);
  close_all_but(read_end.get());
  watch(STDERR_FILENO + 1, folder);
}

orphan_killer::~orphan_killer() {
  words_.reset();
  ::waitpid(pid_, nullptr, 0);
}

void orphan_killer::say(pid_t word) noexcept {
  while (::write(words_.get(), &word, sizeof word) < 0 && errno == EINTR) continue;  // EPIPE: it is gone
}

}  // namespace nacre::tool
