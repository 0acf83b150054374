// SPDX-License-Identifier: Apache-2.0
// The command nacre, or another one, as a child process of a test: what it is given, prints and returns.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/sanitized.hpp"
#include "stopwatch.hpp"

namespace nacre::tests {

using std::chrono::seconds;
using std::chrono::steady_clock;

inline constexpr seconds patience{sanitized ? 200 : 60};  // of a stopwatch, below the limit of a test
inline constexpr auto patience_seconds = static_cast<double>(patience.count());

struct outcome {
  int status = -1;          ///< as from waitpid
  double seconds = 0;       ///< those in which the machine stood still or was busy left out, see stopwatch
  double wall_seconds = 0;  ///< all of them
  long peak_bytes = 0;      ///< that the process, or a child that it waited for, had at most in memory
  std::string output;
  std::string errors;
};

[[nodiscard]] inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

class launched {
 public:
  /// The program first.
  explicit launched(std::vector<std::string> command, const std::string& input = "") {
    std::array<int, 2> in{}, out{}, err{};
    EXPECT_EQ(pipe2(in.data(), O_CLOEXEC) | pipe2(out.data(), O_CLOEXEC) | pipe2(err.data(), O_CLOEXEC), 0);
    pid_ = fork();
    if (pid_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGTERM);  // a test that is killed leaves nobody behind
      dup2(in[0], 0);
      dup2(out[1], 1);
      dup2(err[1], 2);
      std::vector<char*> argv;
      for (std::string& each : command) argv.push_back(each.data());
      argv.push_back(nullptr);
      execvp(argv[0], argv.data());
      _exit(127);
    }
    for (const int end : {in[0], out[1], err[1]}) close(end);
    EXPECT_EQ(write(in[1], input.data(), input.size()), static_cast<ssize_t>(input.size()));
    close(in[1]);
    pipes_ = {out[0], err[0]};
  }
  launched(const launched&) = delete;
  launched& operator=(const launched&) = delete;
  ~launched() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    for (const int end : pipes_) close(end);
  }

  /// Reads until the output contains `text`.
  void read_until(std::string_view text) {
    stopwatch taken;
    while (seen_.output.find(text) == std::string::npos && taken.look() < patience_seconds && read_some()) continue;
    EXPECT_NE(seen_.output.find(text), std::string::npos) << seen_.output << seen_.errors;
  }

  /// Reads for at most a tenth of a second.
  void listen() { read_some(); }
  /// Both of its outputs are closed.
  [[nodiscard]] bool is_over() const noexcept { return pipes_[0] < 0 && pipes_[1] < 0; }

  [[nodiscard]] const std::string& output() const noexcept { return seen_.output; }

  void signal(int number) const { kill(pid_, number); }

  /// Again and again, because two signals of one number may become one.
  void signal_until_over(int number) {
    stopwatch taken;
    do signal(number);
    while (read_some() && taken.look() < patience_seconds);
  }

  /// Reads to the end and waits; what takes longer is killed.
  outcome end(seconds at_most = patience) {
    stopwatch taken;
    const auto begin = std::chrono::steady_clock::now();
    const auto too_long = static_cast<double>(at_most.count());
    while (taken.look() < too_long && read_some()) continue;
    if (taken.look() >= too_long) kill(pid_, SIGKILL);
    rusage used{};
    wait4(pid_, &seen_.status, 0, &used);
    pid_ = -1;
    seen_.peak_bytes = used.ru_maxrss * 1024L;
    seen_.seconds = taken.look();
    seen_.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return seen_;
  }

 private:
  /// False when both ends are closed.
  bool read_some() {
    std::array<pollfd, 2> watched{{{pipes_[0], POLLIN, 0}, {pipes_[1], POLLIN, 0}}};
    poll(watched.data(), watched.size(), 100);
    for (std::size_t i = 0; i < watched.size(); ++i) {
      if (watched[i].revents == 0) continue;
      std::array<char, 4096> buffer;
      const ssize_t bytes = read(pipes_[i], buffer.data(), buffer.size());
      if (bytes > 0) {
        (i == 0 ? seen_.output : seen_.errors).append(buffer.data(), static_cast<std::size_t>(bytes));
      } else {
        close(std::exchange(pipes_[i], -1));
      }
    }
    return pipes_[0] >= 0 || pipes_[1] >= 0;
  }

  pid_t pid_ = -1;
  std::array<int, 2> pipes_{-1, -1};
  outcome seen_;
};

/// The command nacre with these arguments.
[[nodiscard]] inline std::vector<std::string> nacre_with(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), NACRE_BIN_DIR "/nacre");
  return arguments;
}

inline outcome nacre_command(std::vector<std::string> arguments, const std::string& input = "") {
  return launched(nacre_with(std::move(arguments)), input).end();
}

[[nodiscard]] inline int code_of(const outcome& got) { return WIFEXITED(got.status) ? WEXITSTATUS(got.status) : -1; }

/// Waits until the process has ended, whether somebody asks for its exit code or not. False when it takes too long.
[[nodiscard]] inline bool vanishes(pid_t pid) {
  stopwatch taken;
  for (;;) {
    std::ifstream input("/proc/" + std::to_string(pid) + "/stat");
    std::string number, name, state;
    if (!(input >> number >> name >> state) || state == "Z" || state == "X") return true;
    if (taken.look() > unhurried_end) return false;
    ::poll(nullptr, 0, 20);
  }
}

/// The path of this program: /proc/self/exe is another one in the launcher.
[[nodiscard]] inline const std::string& own_path() {
  static const std::string path = [] {
    std::array<char, 4096> buffer{};
    return readlink("/proc/self/exe", buffer.data(), buffer.size() - 1) > 0 ? std::string(buffer.data()) : "";
  }();
  return path;
}

}  // namespace nacre::tests
