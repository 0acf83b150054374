// SPDX-License-Identifier: Apache-2.0
// The processes of a job's ranks on one host: their start, their signals and their ends.
#include "tool/rank_group.hpp"

#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include <fmt/format.h>

#include <nacre/error.hpp>

#include "join/launch/job_credentials.hpp"

namespace nacre::tool {
namespace {

ending ending_of(const siginfo_t& signal_info) noexcept {
  if (signal_info.si_code == CLD_EXITED) return {.cause = ending::kind::exited, .number = signal_info.si_status};
  return {.cause = ending::kind::killed, .number = signal_info.si_status};
}

const std::string ucx_variable = "UCX_POSIX_DIR=";

bool has_variable(const std::vector<std::string>& environment, const std::string& begin) {
  return std::any_of(environment.begin(), environment.end(),
                     [&](const std::string& each) { return each.starts_with(begin); });
}

}  // namespace

rank_group::~rank_group() { signal(SIGKILL); }

rank_process rank_group::start(std::uint32_t rank, const rank_launch_spec& rank_spec, int standard_input) {
  const unique_fd secret = launch::make_secret_pipe(rank_spec.secret);
  command command = rank_spec.program;
  for (std::string& each : launch::job_variables(
           rank_id(rank), rank_spec.size, rank_spec.control_address, secret.get(),
           {.ranks = rank_spec.ranks_on_host, .place = static_cast<std::uint32_t>(processes_.size())})) {
    command.environment.push_back(std::move(each));
  }
  if (!ucx_.path().empty() && !has_variable(command.environment, ucx_variable)) {
    command.environment.push_back(ucx_variable + ucx_.path());
  }
  rank_process started = start_process(command, {.standard_input = standard_input, .kept = secret.get()});
  orphan_killer_.add_group(started.pid);
  processes_.push_back({.rank = rank, .pid = started.pid, .running = true});
  ++running_;
  return started;
}

void rank_group::reap(std::vector<rank_end>& ends) {
  for (process& each : processes_) {
    siginfo_t signal_info{};
    if (!each.running || ::waitid(P_PID, static_cast<id_t>(each.pid), &signal_info, WEXITED | WNOHANG | WNOWAIT) != 0)
      continue;
    if (signal_info.si_pid == 0) continue;
    // The leader is not reaped yet, so no other group has its number: only this rank's processes are killed.
    if (job_ends_) ::kill(-each.pid, SIGKILL);
    orphan_killer_.remove_group(each.pid);
    ::waitpid(each.pid, nullptr, 0);
    each.running = false;
    --running_;
    ends.push_back({.rank = each.rank, .outcome = ending_of(signal_info)});
  }
}

void rank_group::signal(int number) const noexcept {
  for (const process& each : processes_) {
    if (each.running) ::kill(-each.pid, number);
  }
}

void raise_limit_of_files(std::uint64_t needed, const std::string& user) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed) return;
  if (limit.rlim_max < needed) {
    throw setup_error(
        {.problem = fmt::format("{} need {} open files, and the limit is {}", user, needed, limit.rlim_max),
         .why = "every rank is connected to every other",
         .remedy = "start fewer ranks, or raise the hard limit (ulimit -Hn)"});
  }
  limit.rlim_cur = needed;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace nacre::tool
