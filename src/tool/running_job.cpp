// SPDX-License-Identifier: Apache-2.0
// The processes of a job that runs, and the loop that serves them.
#include "tool/running_job.hpp"

#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include <nacre/error.hpp>

#include "tool/program.hpp"
#include "transport/launch/job_ticket.hpp"

namespace nacre::tool {
namespace {

namespace launch = transport::launch;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds tick{1000};              // for the deadlines of handshakes
constexpr milliseconds unfinished_time{100};    // how long a terminal waits for the end of a line
constexpr milliseconds last_output_time{500};   // for output of processes that outlive their rank
constexpr milliseconds slow_reader_time{2000};  // for whoever reads the launcher's output

/// Signals arrive as something to read from here on, instead of interrupting.
unique_fd watch_signals() {
  sigset_t watched;
  ::sigemptyset(&watched);
  for (const int each : {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP}) ::sigaddset(&watched, each);
  ::sigprocmask(SIG_BLOCK, &watched, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  return unique_fd(::signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK));
}

/// The launcher's environment without the ticket of another job, and with what the user has asked for.
std::vector<std::string> common_environment(const job_options& options) {
  std::vector<std::string> result;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view variable = *each;
    const bool replaced = launch::is_ticket_variable(variable) || variable.starts_with("NACRE_TRANSPORT=") ||
                          (!options.config.empty() && variable.starts_with("NACRE_CONFIG="));
    if (!replaced) result.emplace_back(variable);
  }
  result.push_back("NACRE_TRANSPORT=" + options.transport);
  if (::isatty(STDERR_FILENO) != 0) result.emplace_back("NACRE_JOB_TERMINAL=1");  // for those who show progress
  if (!options.config.empty()) result.push_back("NACRE_CONFIG=" + std::filesystem::absolute(options.config).string());
  return result;
}

/// Room for the pipes of each rank here, and for its connections to all others there.
void raise_limit_of_files(std::uint32_t ranks) {
  const rlim_t needed = 3 * rlim_t{ranks} + 64;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed) return;
  if (limit.rlim_max < needed) {
    throw setup_error(
        {.problem = fmt::format("{} ranks need {} open files, and the limit is {}", ranks, needed, limit.rlim_max),
         .why = "every rank is connected to every other",
         .remedy = "start fewer ranks, or raise the hard limit (ulimit -Hn)"});
  }
  limit.rlim_cur = needed;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

ending ending_of(const siginfo_t& about) noexcept {
  if (about.si_code == CLD_EXITED) return {.how = ending::kind::exited, .number = about.si_status};
  return {.how = ending::kind::killed, .number = about.si_status};
}

}  // namespace

running_job::running_job(const job_options& options)
    : output_(STDOUT_FILENO),
      error_(STDERR_FILENO),
      signals_(watch_signals()),
      secret_(job_secret::generate()),
      rendezvous_(options.ranks, secret_),
      supervisor_(options.ranks) {
  raise_limit_of_files(options.ranks);
  try {
    start_ranks(options);
  } catch (...) {
    signal_groups(SIGKILL);
    throw;
  }
}

running_job::~running_job() { signal_groups(SIGKILL); }

void running_job::start_ranks(const job_options& options) {
  const char* const search_path = std::getenv("PATH");
  command what{.path = find_program(options.arguments.front(), search_path == nullptr ? "/usr/bin:/bin" : search_path),
               .arguments = options.arguments,
               .environment = {}};
  const std::vector<std::string> common = common_environment(options);
  for (std::uint32_t rank = 0; rank < options.ranks; ++rank) {
    const unique_fd secret = launch::make_secret_pipe(secret_);
    what.environment = launch::ticket_variables(rank_id(rank), options.ranks, rendezvous_.address(), secret.get());
    what.environment.insert(what.environment.end(), common.begin(), common.end());
    rank_process started =
        start_process(what, {.standard_input = rank == 0 ? input_.for_rank_zero() : -1, .kept = secret.get()});
    processes_.push_back({.pid = started.pid, .running = true});
    const std::string label = options.label ? fmt::format("[{}] ", rank) : "";
    relays_.emplace_back(std::move(started.output), output_, label);
    relays_.emplace_back(std::move(started.error), error_, label);
    if (rank == 0) input_.started();
  }
}

int running_job::run() {
  while (!supervisor_.over()) {
    wait();
    const auto now = steady_clock::now();
    if (read_signals()) reap();
    listen_to_ranks(now);  // after reap: what a rank said before its end is known with its end
    input_.pump();
    pass_output_on(now);
    obey(supervisor_.settle(now));
  }
  drain();
  return supervisor_.exit_code();
}

void running_job::wait() {
  std::vector<pollfd> watched{{.fd = signals_.get(), .events = POLLIN, .revents = 0},
                              {.fd = rendezvous_.descriptor(), .events = POLLIN, .revents = 0},
                              {.fd = input_.source(), .events = POLLIN, .revents = 0},
                              {.fd = input_.target(), .events = POLLOUT, .revents = 0}};
  for (const line_relay& each : relays_) {
    if (!each.sink().full()) watched.push_back({.fd = each.descriptor(), .events = POLLIN, .revents = 0});
  }
  for (const line_sink* each : {&output_, &error_}) {
    if (!each->empty()) watched.push_back({.fd = each->descriptor(), .events = POLLOUT, .revents = 0});
  }
  ::poll(watched.data(), watched.size(), milliseconds_to_sleep(steady_clock::now()));
}

int running_job::milliseconds_to_sleep(time_point now) const {
  auto until = now + tick;
  if (const auto due = supervisor_.due()) until = std::min(until, *due);
  if (unfinished_since_) until = std::min(until, *unfinished_since_ + unfinished_time);
  return static_cast<int>(std::max<std::int64_t>(0, std::chrono::ceil<milliseconds>(until - now).count()));
}

bool running_job::read_signals() {
  bool child = false;
  signalfd_siginfo about{};
  while (::read(signals_.get(), &about, sizeof about) == sizeof about) {
    const int signal = static_cast<int>(about.ssi_signo);
    if (signal == SIGCHLD) {
      child = true;
    } else if (signal == SIGTSTP) {
      suspend();
    } else {
      supervisor_.interrupted(signal, steady_clock::now());
    }
  }
  return child;
}

void running_job::suspend() const noexcept {
  signal_groups(SIGTSTP);
  ::raise(SIGSTOP);  // returns when the shell continues this process
  signal_groups(SIGCONT);
}

void running_job::reap() {
  for (std::uint32_t rank = 0; rank < processes_.size(); ++rank) {
    process& each = processes_[rank];
    siginfo_t about{};
    if (!each.running || ::waitid(P_PID, static_cast<id_t>(each.pid), &about, WEXITED | WNOHANG | WNOWAIT) != 0)
      continue;
    if (about.si_pid == 0) continue;
    // While it is not reaped, its group cannot be mistaken for another one: whom it has started ends with the job.
    if (supervisor_.is_ending()) ::kill(-each.pid, SIGKILL);
    ::waitpid(each.pid, nullptr, 0);
    each.running = false;
    supervisor_.ended(rank, ending_of(about));
  }
}

void running_job::listen_to_ranks(time_point now) {
  std::vector<launch::report> reports;
  rendezvous_.poll(now, reports);
  for (launch::report& each : reports) {
    const std::uint32_t from = each.from.value();
    if (std::holds_alternative<launch::joined>(each.what)) supervisor_.joined(from);
    if (std::holds_alternative<launch::left>(each.what)) supervisor_.left(from);
    if (std::holds_alternative<launch::hung_up>(each.what)) supervisor_.hung_up(from, now);
    if (auto* trouble = std::get_if<launch::lost>(&each.what)) {
      supervisor_.lost(from, trouble->peer, std::move(trouble->reason), now);
    }
  }
}

void running_job::obey(const orders& what) {
  if (what.line) {
    pass_output_on(steady_clock::now());  // what the ranks have said comes first
    error_.push(*what.line + "\n");
    error_.flush();
  }
  if (what.announce) rendezvous_.announce({.peer = what.announce->peer, .reason = what.announce->reason});
  for (const int each : what.signals) signal_groups(each);
}

void running_job::signal_groups(int signal) const noexcept {
  for (const process& each : processes_) {
    if (each.running) ::kill(-each.pid, signal);
  }
}

void running_job::pass_output_on(time_point now) {
  bool unfinished = false;
  for (line_relay& each : relays_) {
    if (each.sink().full()) continue;
    const bool moved = each.pump();
    if (each.sink().is_terminal() && each.holds_unfinished_line()) {
      if (!moved && unfinished_since_ && now >= *unfinished_since_ + unfinished_time) each.release_unfinished();
      unfinished |= each.holds_unfinished_line();
    }
  }
  if (!unfinished) unfinished_since_.reset();
  if (unfinished && (!unfinished_since_ || now >= *unfinished_since_ + unfinished_time)) unfinished_since_ = now;
  std::erase_if(relays_, [](const line_relay& each) { return each.descriptor() < 0; });
  output_.flush();
  error_.flush();
}

void running_job::drain() {
  const auto start = steady_clock::now();
  for (auto now = start; now < start + slow_reader_time; now = steady_clock::now()) {
    listen_to_ranks(now);
    pass_output_on(now);
    const bool sources = !relays_.empty() && now < start + last_output_time;
    if (!sources && output_.empty() && error_.empty()) break;
    wait();
  }
  for (line_relay& each : relays_) each.release_unfinished();
  output_.flush();
  error_.flush();
}

int run_job(const job_options& options) { return running_job(options).run(); }

}  // namespace nacre::tool
