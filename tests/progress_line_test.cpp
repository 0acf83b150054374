// SPDX-License-Identifier: Apache-2.0
// The line on the terminal that tells how a long run gets on.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <string>

#include <nacre/nacre.hpp>

#include "runtime/progress_line.hpp"

namespace {

using namespace std::chrono_literals;

/// Works on each rank in small pieces until the time is over, and for so many pieces where the machine is slow: a
/// simulation looks at the clock once in some hundreds of them.
struct worker {
  std::chrono::steady_clock::time_point end;
  int left = 1000;
  void go_on(nacre::context& ctx) {
    const auto until = std::chrono::steady_clock::now() + 200us;
    while (std::chrono::steady_clock::now() < until) continue;
    ctx.charge(1e-3);
    if (--left > 0 || until < end) ctx.send<&worker::go_on>(ctx.self<worker>());
  }
  template <class Archive>
  void serialize(Archive&) {}
};

/// The text that a process prints on standard error, which is a terminal.
template <class Body>
std::string said_on_terminal_by(const Body& body) {
  int terminal = -1;
  const pid_t job = forkpty(&terminal, nullptr, nullptr, nullptr);
  if (job == 0) _exit(body());
  std::string said;
  std::array<char, 4096> buffer;
  pollfd watched{terminal, POLLIN, 0};
  while (poll(&watched, 1, 30'000) > 0) {
    const ssize_t got = read(terminal, buffer.data(), buffer.size());
    if (got <= 0) break;
    said.append(buffer.data(), static_cast<std::size_t>(got));
  }
  close(terminal);
  int status = -1;
  waitpid(job, &status, 0);
  EXPECT_EQ(status, 0) << said;
  return said;
}

/// That of a job of three ranks, which lasts for a second, or longer on a slow machine.
std::string said_on_terminal(const char* transport, const char* suffix) {
  return said_on_terminal_by([&] {
    nacre::config configuration;
    configuration.set("transport", transport);
    configuration.set("ranks", "3");
    configuration.set("workers", "1");
    configuration.set("progress_line", suffix);
    return nacre::run(configuration, [](nacre::runtime& rt) {
      rt.send<&worker::go_on>(rt.create<worker>(worker{std::chrono::steady_clock::now() + 1s}));
    });
  });
}

/// That of `nacre run` with this shell command, whose ranks have pipes for standard error.
std::string said_by_launcher(const char* command) {
  const std::string tool = NACRE_BIN_DIR "/nacre";
  return said_on_terminal_by([&] {
    execl(tool.c_str(), "nacre", "run", "-n", "2", "--transport", "tcp", "sh", "-c", command, nullptr);
    return 127;
  });
}

TEST(progress_line, tells_of_all_ranks_and_leaves_nothing_behind) {
  const std::string said = said_on_terminal("inproc", "20ms");
  EXPECT_NE(said.find(" handlers, "), std::string::npos) << said;
  EXPECT_NE(said.find("of 3 workers busy"), std::string::npos) << said;
  EXPECT_NE(said.find("3 of 3 ranks answer"), std::string::npos) << said;
  EXPECT_TRUE(said.ends_with("\r\x1b[K")) << "it is erased: " << said;
  EXPECT_EQ(said.find('\n'), std::string::npos) << "it stays one line";
}

TEST(progress_line, tells_of_simulated_ranks_in_virtual_time) {
  const std::string said = said_on_terminal("sim", "20ms");
  EXPECT_NE(said.find("simulated, of virtual time: nacre: "), std::string::npos) << said;
  EXPECT_NE(said.find("3 of 3 ranks answer"), std::string::npos) << said;
  EXPECT_TRUE(said.ends_with("\r\x1b[K"));
}

TEST(progress_line, is_not_there_for_short_runs_or_when_it_is_not_wanted) {
  EXPECT_EQ(said_on_terminal("inproc", "60min"), "") << "the job is shorter";
  EXPECT_EQ(said_on_terminal("inproc", "0s"), "");
  EXPECT_EQ(said_on_terminal("sim", "0s"), "");
}

TEST(progress_line, of_a_launched_job_reaches_the_launchers_terminal) {
  const std::string uts = NACRE_BIN_DIR "/uts --tree T5 --mode steal --nacre.workers=1 --nacre.progress_line=20ms";
  const std::string said = said_by_launcher(("exec " + uts).c_str());
  EXPECT_NE(said.find("2 of 2 ranks answer"), std::string::npos) << said;
  EXPECT_NE(said.find("\r\x1b[K"), std::string::npos) << said;
  const std::string of_file = said_by_launcher(("exec " + uts + " 2>/dev/null").c_str());
  EXPECT_EQ(of_file.find("ranks answer"), std::string::npos) << of_file;
}

TEST(progress_line, counts_since_the_line_before) {
  nacre::progress_teller teller;
  static_cast<void>(teller.text({{1000, 1.0, 2, 0}, {1000, 1.0, 2, 0}}, 2, 1.0));
  EXPECT_EQ(teller.text({{31000, 2.0, 2, 1}, {11000, 1.5, 2, 2}}, 1, 3.0),
            "nacre: 3.0 s, 42.0 k handlers, 20.0 k/s, 1 of 4 workers busy, busiest rank 1.33 of the mean, 1 of 2 ranks "
            "answer");
}

}  // namespace
