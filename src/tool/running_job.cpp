// SPDX-License-Identifier: Apache-2.0
// The processes of a job that runs, and the loop that serves them.
#include "tool/running_job.hpp"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "base/cgroup_limits.hpp"
#include "base/print_error.hpp"
#include "join/launch/job_credentials.hpp"
#include "program_options/standard_output.hpp"
#include "runtime/memory_defaults.hpp"
#include "tool/hosts/agent_startup.hpp"
#include "tool/hosts/own_address.hpp"
#include "tool/hosts/remote_process_group.hpp"
#include "tool/local_process_group.hpp"
#include "tool/program.hpp"

namespace nacre::tool {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds tick{1000};                     // checks the deadlines of handshakes
constexpr milliseconds last_words_time{500};           // for a rank's last messages, behind the end of its process
constexpr milliseconds interrupted_reader_time{2000};  // for a reader of the output of a job that a signal has ended

bool is_ignored(int signal) noexcept {
  struct sigaction current {};
  return ::sigaction(signal, nullptr, &current) == 0 && current.sa_handler == SIG_IGN;
}

/// Returns a signalfd. From here on signals are read from it and interrupt nothing. A signal that the parent of this
/// process ignores stays ignored, here and in the ranks, which inherit that: nohup ignores SIGHUP, and a shell ignores
/// SIGINT for the background jobs of a script. `image_signal`: one more, or 0. Output that meets the limit on the
/// length of files (ulimit -f) is an error of write here; ranks do not inherit the handler.
unique_fd watch_signals(int image_signal) {
  sigset_t watched;
  ::sigemptyset(&watched);
  for (const int each : {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, image_signal}) {
    if (each != 0 && !is_ignored(each)) ::sigaddset(&watched, each);
  }
  ::sigprocmask(SIG_BLOCK, &watched, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  if (!is_ignored(SIGXFSZ)) ::signal(SIGXFSZ, [](int) {});
  return unique_fd(::signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK));
}

/// The variables that the job's options set.
std::vector<std::string> asked_variables(const job_options& options) {
  std::vector<std::string> result = options.variables;
  for (std::string& each : launch::variables_of({.transport = options.transport,
                           .restore = options.restore,
                           .mark = options.mark,
                           .life = options.life > 1 ? std::to_string(options.life) : ""})) {
    result.push_back(std::move(each));
  }
  if (::isatty(STDERR_FILENO) != 0) result.emplace_back("NACRE_JOB_TERMINAL=1");  // ranks show progress lines
  if (!options.config.empty()) result.push_back("NACRE_CONFIG=" + options.config);
  if (const auto memory = limits_of_this_process().memory_bytes) {
    std::size_t ranks_on_host = options.hosts.empty() ? options.ranks : 1;
    for (const host_share& each : options.hosts) ranks_on_host = std::max(ranks_on_host, each.ranks.size());
    result.push_back(receive_memory_variable({*memory, static_cast<std::uint32_t>(ranks_on_host)}));
  }
  return result;
}

/// asked_variables, then the launcher's own environment without the credentials of another job. Ranks on this host get
/// the whole environment, ranks on other hosts only the variables that begin with NACRE_.
std::vector<std::string> common_environment(const job_options& options) {
  std::vector<std::string> result = asked_variables(options);
  const std::size_t asked = result.size();
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view variable = *each;
    const std::string_view name = variable.substr(0, variable.find('=') + 1);
    const bool chosen =  // by the launcher, in variables of its own
        name == "NACRE_TRANSPORT=" || (name == "NACRE_RESTORE=" && !options.restore.empty());
    const bool replaced = chosen || launch::is_job_variable(variable) ||
                          std::any_of(result.begin(), result.begin() + static_cast<std::ptrdiff_t>(asked),
                                      [&](const std::string& other) { return other.starts_with(name); });
    if (!replaced && (options.hosts.empty() || variable.starts_with("NACRE_"))) result.emplace_back(variable);
  }
  return result;
}

net::address listen_address(const job_options& options) {
  std::vector<std::string> hosts;
  for (const host_share& each : options.hosts) hosts.push_back(each.name);
  return own_address(hosts, options.remote.address);
}

std::vector<std::string> hosts_by_rank(const job_options& options) {
  if (options.hosts.empty()) return {};
  std::vector<std::string> result(options.ranks);
  for (const host_share& each : options.hosts) {
    for (const std::uint32_t rank : each.ranks) result[rank] = each.name;
  }
  return result;
}

rank_launch_spec local_rank_spec(const job_options& options, const job_secret& secret,
                                 const std::string& control_address) {
  const char* const search_path = std::getenv("PATH");
  return {.program = {.path = find_program(options.arguments.front(),
                                           search_path == nullptr ? "/usr/bin:/bin" : search_path),
                      .arguments = options.arguments,
                      .environment = common_environment(options)},
          .secret = secret,
          .control_address = control_address,
          .size = options.ranks,
          .ranks_on_host = options.ranks};
}

}  // namespace

running_job::running_job(const job_options& options)
    : signals_(watch_signals(options.image_signal)),
      secret_(job_secret::generate()),
      control_server_(options.ranks, secret_, listen_address(options)),
      supervisor_(options.ranks) {
  // Descriptors for pipes and launcher connections of the ranks here. On other hosts each agent raises its own limit.
  raise_limit_of_files((options.hosts.empty() ? 3 : 1) * std::uint64_t{options.ranks} + options.hosts.size() +
                           4 * std::min<std::uint64_t>(options.hosts.size(), shells_max) + 64,
                       fmt::format("{} ranks", options.ranks));
  supervisor_.name_hosts(hosts_by_rank(options));
  if (options.survive.deaths) supervisor_.end_at_once_after_death();
  if (options.image_signal != 0) supervisor_.end_behind_image(options.image_signal, options.image_grace);
  if (options.hosts.empty()) {
    process_group_ = std::make_unique<local_process_group>(local_rank_spec(options, secret_, control_server_.address()),
                                                           options.label, printer_,
                                                           [this] { listen_to_ranks(steady_clock::now()); });
  } else {
    process_group_ =
        std::make_unique<remote_process_group>(options,
                                               remote_surroundings{.server = control_server_,
                                                                   .secret = secret_,
                                                                   .listen_at = listen_address(options),
                                                                   .variables = common_environment(options),
                                                                   .signals = signals_.get()},
                                               printer_);
  }
}

int running_job::run() {
  while (!supervisor_.over()) {
    wait();
    const auto now = steady_clock::now();
    serve_process_group(now, read_signals());
    listen_to_ranks(now);
    report_ends(now);
    printer_.pump(now);
    apply(supervisor_.decide(now));
  }
  drain();
  const int code = supervisor_.exit_code();
  return code == EXIT_SUCCESS && printer_.lost_output() ? lost_output_code : code;
}

void running_job::wait() {
  std::vector<pollfd> watched{{.fd = signals_.get(), .events = POLLIN, .revents = 0},
                              {.fd = control_server_.descriptor(), .events = POLLIN, .revents = 0}};
  process_group_->watch(watched);
  printer_.watch(watched);
  ::poll(watched.data(), watched.size(), milliseconds_to_sleep(steady_clock::now()));
}

int running_job::milliseconds_to_sleep(time_point now) const {
  auto until = now + tick;
  for (const auto& due : {supervisor_.due(), printer_.due()}) {
    if (due) until = std::min(until, *due);
  }
  if (!held_.empty()) until = std::min(until, held_.front().until);
  return static_cast<int>(std::max<std::int64_t>(0, std::chrono::ceil<milliseconds>(until - now).count()));
}

bool running_job::read_signals() {
  bool child = false;
  signalfd_siginfo signal_info{};
  while (::read(signals_.get(), &signal_info, sizeof signal_info) == sizeof signal_info) {
    const int signal = static_cast<int>(signal_info.ssi_signo);
    if (signal == SIGCHLD) {
      child = true;
    } else if (signal == SIGTSTP) {
      suspend();
    } else {
      is_interrupted_ = true;
      supervisor_.interrupted(signal, steady_clock::now());
    }
  }
  return child;
}

void running_job::suspend() const {
  process_group_->signal(SIGTSTP);
  ::raise(SIGSTOP);  // returns when the shell continues this process
  process_group_->signal(SIGCONT);
}

void running_job::serve_process_group(time_point now, bool child) {
  if (supervisor_.is_ending()) process_group_->job_ends();
  std::vector<rank_end> ends;
  process_group_->serve(now, child, ends);
  for (const rank_end& each : ends) held_.push_back({.end = each, .until = now + last_words_time});
}

void running_job::report_ends(time_point now) {
  std::erase_if(held_, [&](const held_end& each) {
    if (now < each.until && control_server_.is_connected(each.end.rank)) return false;
    supervisor_.ended(each.end.rank, each.end.outcome);
    return true;
  });
}

void running_job::listen_to_ranks(time_point now) {
  std::vector<launch::report> reports;
  control_server_.poll(now, reports);
  for (launch::report& each : reports) {
    const std::uint32_t source = each.source.value();
    if (std::holds_alternative<launch::joined>(each.event)) supervisor_.joined(source);
    if (std::holds_alternative<launch::left>(each.event)) supervisor_.left(source);
    if (std::holds_alternative<launch::disconnected>(each.event)) supervisor_.disconnected(source, now);
    if (auto* trouble = std::get_if<launch::lost>(&each.event)) {
      supervisor_.lost(source, trouble->peer, std::move(trouble->reason), now);
    }
  }
}

void running_job::apply(const orders& orders) {
  if (orders.line) printer_.say(*orders.line, steady_clock::now());  // after the ranks' output
  if (orders.announce) control_server_.announce({.peer = orders.announce->peer, .reason = orders.announce->reason});
  if (orders.ask_for_image) control_server_.ask_for_image({.signal = *orders.ask_for_image});
  for (const int each : orders.signals) process_group_->signal(each);
}

/// All that the ranks have written is there already. Processes that outlive them may hold their descriptors, so the
/// time for the end of the streams is bounded; it does not count while output of the ranks waits because a reader is
/// slow.
/// The reader has all the time that it wants, as with any program that writes to a pipe, until a signal comes.
void running_job::drain() {
  const auto start = steady_clock::now();
  const bool was_interrupted = std::exchange(is_interrupted_, false);
  auto end_of_streams = start + process_group_->last_output_time();
  printer_.note_rest();
  for (bool reads = true;;) {
    const auto now = steady_clock::now();
    listen_to_ranks(now);
    serve_process_group(now, read_signals());
    printer_.pump(now);
    if (printer_.holds_back()) end_of_streams = now + process_group_->last_output_time();
    if (reads && (!process_group_->has_output() || now >= end_of_streams)) {
      reads = false;
      printer_.finish();
    }
    if (!reads && printer_.idle()) return;
    if (is_interrupted_ || (was_interrupted && now >= start + interrupted_reader_time)) break;
    wait();
  }
  printer_.finish();
  printer_.give_up();
}

}  // namespace nacre::tool
