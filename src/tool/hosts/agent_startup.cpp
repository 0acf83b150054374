// SPDX-License-Identifier: Apache-2.0
// Starts an agent on every host of a job, a bounded number at a time, and waits until all are ready.
#include "tool/hosts/agent_startup.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include <nacre/error.hpp>

#include "join/net/wait.hpp"
#include "tool/hosts/own_address.hpp"
#include "tool/hosts/remote_shell.hpp"
#include "tool/program.hpp"

namespace nacre::tool {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds poll_interval{1};    // checks the deadlines of handshakes
constexpr std::chrono::seconds shell_exit_time{2};  // for the end of a shell after host_ready
constexpr std::size_t said_bytes_max = 4096;

constexpr const char* why_all = "a job begins when every host has an agent of the launcher";

void read_into(unique_fd& descriptor, std::string& text) {
  std::array<char, 4096> buffer;
  while (descriptor) {
    const ssize_t bytes = ::read(descriptor.get(), buffer.data(), buffer.size());
    if (bytes < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (bytes <= 0) return descriptor.reset();
    text.append(buffer.data(), static_cast<std::size_t>(bytes));
    if (text.size() > said_bytes_max) text.erase(0, text.size() - said_bytes_max);
  }
}

/// Ends the start of the job with one line for the user.
[[noreturn]] void give_up(const std::string& host, const std::string& line) { throw host_failure(host, line); }

}  // namespace

agent_startup::agent_startup(const agent_startup_options& options, std::vector<host_launch_spec> host_specs,
                             agent_connections& connections, int signals)
    : options_(options), connections_(connections), signals_(signals) {
  for (host_launch_spec& each : host_specs) members_.emplace_back().host_spec = std::move(each);
}

agent_startup::~agent_startup() {
  for (const member& each : members_) {
    if (each.shell == 0) continue;
    ::kill(-each.shell, SIGKILL);
    ::waitpid(each.shell, nullptr, 0);
  }
}

void agent_startup::run() {
  while (ready_ < members_.size() || shells_ > 0) {
    const auto now = steady_clock::now();
    start_some(now);
    wait(now);
    read_signals();
    for (member& each : members_) {
      if (each.shell != 0) move_bytes(each);
    }
    listen(steady_clock::now());  // before reap: the message of an agent explains more than its shell's end
    for (member& each : members_) {
      if (each.shell != 0) reap(each);
      check_time(each, steady_clock::now());
    }
  }
}

void agent_startup::start_some(time_point now) {
  for (; next_ < members_.size() && shells_ < shells_max; ++next_) start(members_[next_], now);
}

void agent_startup::start(member& one, time_point now) {
  const bool is_here = options_.shell.empty() || is_this_host(one.host_spec.host);
  one.command = is_here ? std::vector<std::string>{options_.nacre, "host-agent"}
                        : agent_command(options_.shell, one.host_spec.host, options_.nacre);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw setup_error({.problem = "cannot make a pipe: " + net::error_text(errno),
                       .why = why_all,
                       .remedy = "raise the limit of open files (ulimit -n)"});
  }
  const unique_fd read_end(ends[0]);
  one.input.reset(ends[1]);
  ::fcntl(one.input.get(), F_SETFL, O_NONBLOCK);
  command command{.path = one.command.front(), .arguments = one.command, .environment = {}};
  if (command.path.find('/') == std::string::npos) {
    const char* const search_path = std::getenv("PATH");
    command.path = find_program(command.path, search_path == nullptr ? "/usr/bin:/bin" : search_path);
  }
  for (char** each = environ; *each != nullptr; ++each) command.environment.emplace_back(*each);
  rank_process started = start_process(command, {.standard_input = read_end.get(), .kept = -1});
  one.shell = started.pid;
  one.output = std::move(started.output);
  one.error = std::move(started.error);
  one.unsent = pack_host_spec(one.host_spec);
  one.deadline = now + options_.start_time;
  one.state = progress::starting;
  ++shells_;
}

void agent_startup::wait(time_point now) const {
  std::vector<pollfd> watched{{.fd = signals_, .events = POLLIN, .revents = 0},
                              {.fd = connections_.descriptor(), .events = POLLIN, .revents = 0}};
  auto until = now + poll_interval;
  for (const member& each : members_) {
    if (each.state == progress::starting || each.shell != 0) until = std::min(until, each.deadline);
    if (each.shell == 0) continue;
    watched.push_back({.fd = each.input.get(), .events = POLLOUT, .revents = 0});
    watched.push_back({.fd = each.output.get(), .events = POLLIN, .revents = 0});
    watched.push_back({.fd = each.error.get(), .events = POLLIN, .revents = 0});
  }
  net::wait_until(watched, until);
}

void agent_startup::read_signals() {
  signalfd_siginfo signal_info{};
  while (::read(signals_, &signal_info, sizeof signal_info) == sizeof signal_info) {
    const int signal = static_cast<int>(signal_info.ssi_signo);
    if (signal != SIGCHLD && signal != SIGTSTP) throw interrupted_start{signal};
  }
}

void agent_startup::move_bytes(member& one) {
  while (one.input) {
    const ssize_t written = ::write(one.input.get(), one.unsent.data(), one.unsent.size());
    if (written < 0 && (errno == EAGAIN || errno == EINTR)) break;
    if (written > 0) one.unsent.erase(one.unsent.begin(), one.unsent.begin() + written);
    if (written < 0 || one.unsent.empty()) one.input.reset();
  }
  std::string ignored;
  read_into(one.output, ignored);
  read_into(one.error, one.said);
}

void agent_startup::reap(member& one) {
  siginfo_t signal_info{};
  if (::waitid(P_PID, static_cast<id_t>(one.shell), &signal_info, WEXITED | WNOHANG) != 0 || signal_info.si_pid == 0)
    return;
  move_bytes(one);
  one.shell = 0;
  --shells_;
  one.input.reset();
  one.output.reset();
  one.error.reset();
  const ending ending{.cause = signal_info.si_code == CLD_EXITED ? ending::kind::exited : ending::kind::killed,
                      .number = signal_info.si_status};
  // A shell that exits with 0 is no failure: it may end before the first message of its agent arrives.
  if (one.state == progress::ready || (ending.cause == ending::kind::exited && ending.number == 0)) return;
  give_up(one.host_spec.host, explain({.host = one.host_spec.host,
                                       .command = one.command,
                                       .nacre = options_.nacre,
                                       .outcome = ending,
                                       .said = one.said}));
}

void agent_startup::listen(time_point now) {
  std::vector<agent_report> reports;
  connections_.poll(now, reports);
  for (agent_report& each : reports) {
    member& one = members_[each.host];
    if (!each.message)
      give_up(one.host_spec.host,
              fmt::format("host {}: its agent has ended: look into the log of its sshd", one.host_spec.host));
    if (const auto* trouble = std::get_if<host_failed>(&*each.message)) {
      give_up(one.host_spec.host, fmt::format("host {}: {}", one.host_spec.host, trouble->problem));
    }
    auto* ready = std::get_if<host_ready>(&*each.message);
    if (ready == nullptr || one.state != progress::starting) continue;
    one.program = std::move(*ready);
    one.state = progress::ready;
    one.deadline = now + shell_exit_time;
    ++ready_;
    check_program(one);
  }
}

/// A program with a slash in its name must be the same file on all hosts. A program that is found in PATH may be a
/// shell or a tool, and its version may differ between hosts; then only the ranks compare their binaries.
void agent_startup::check_program(const member& one) const {
  if (one.host_spec.arguments.front().find('/') == std::string::npos) return;
  for (const member& other : members_) {
    if (other.state != progress::ready || other.program.fingerprint == one.program.fingerprint) continue;
    throw setup_error({.problem = fmt::format("{} on host {} is another version than on host {} (fingerprints {:016x} "
                                              "and {:016x})",
                                              one.program.program, one.host_spec.host, other.host_spec.host,
                                              one.program.fingerprint, other.program.fingerprint),
                       .why = "all ranks of a job run one binary",
                       .remedy = "copy it there: scp " + other.program.program + " " + one.host_spec.host + ":" +
                                 one.program.program});
  }
}

void agent_startup::check_time(member& one, time_point now) {
  if (now < one.deadline) return;
  if (one.state == progress::starting) {
    throw host_failure(
        one.host_spec.host,
        setup_error::parts{
            .problem =
                fmt::format("host {} has not answered for {} s", one.host_spec.host, options_.start_time.count()),
            .why = why_all,
            .remedy = fmt::format("look whether '{} {} true' works without a question, or give it more time with "
                                  "--host-timeout",
                                  one.command.front(), one.host_spec.host)});
  }
  if (one.shell != 0) ::kill(-one.shell, SIGKILL);  // its agent is ready, but it has not ended
}

}  // namespace nacre::tool
