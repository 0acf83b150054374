// SPDX-License-Identifier: Apache-2.0
// The ranks of a job on several hosts, each host with an agent that starts and ends them.
#include "tool/hosts/remote_process_group.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <variant>

#include <fmt/format.h>

#include <nacre/error.hpp>

#include "tool/hosts/agent_startup.hpp"
#include "tool/local_process_group.hpp"

namespace nacre::tool {
namespace {

using std::chrono::milliseconds;

std::vector<host_launch_spec> make_host_specs(const job_options& options,
                                              const remote_surroundings& remote_surroundings,
                                              const agent_connections& connections) {
  std::vector<host_launch_spec> host_specs;
  for (const host_share& each : options.hosts) {
    host_specs.push_back(
        {.host = each.name,
         .index = static_cast<std::uint32_t>(host_specs.size()),
         .hosts = static_cast<std::uint32_t>(options.hosts.size()),
         .launcher = connections.address(),
         .agent_secret = connections.secret().to_hex(),
         .control_address = remote_surroundings.server.address(),
         .job_secret = remote_surroundings.secret.to_hex(),
         .size = options.ranks,
         .ranks = each.ranks,
         .folder = options.remote.folder.empty() ? std::filesystem::current_path().string() : options.remote.folder,
         .arguments = options.arguments,
         .variables = remote_surroundings.variables});
  }
  return host_specs;
}

}  // namespace

remote_process_group::remote_process_group(const job_options& options, const remote_surroundings& remote_surroundings,
                                           printer& out)
    : out_(out),
      connections_(static_cast<std::uint32_t>(options.hosts.size()), net::listen_at(remote_surroundings.listen_at)),
      ranks_(options.ranks) {
  for (const host_share& each : options.hosts) {
    if (each.ranks.front() == 0) first_host_ = static_cast<std::uint32_t>(hosts_.size());
    hosts_.push_back({.name = each.name, .ranks = each.ranks, .unacknowledged = 0, .done = false});
  }
  const agent_startup_options agent_startup_options{
      .shell = options.remote.shell, .nacre = options.remote.nacre, .start_time = options.remote.start_time};
  agent_startup(agent_startup_options, make_host_specs(options, remote_surroundings, connections_), connections_,
                remote_surroundings.signals)
      .run();
  for (std::uint32_t rank = 0; rank < options.ranks; ++rank) {
    ranks_[rank].output = &out.attach({}, false, label_of(rank, options.label));
    ranks_[rank].error = &out.attach({}, true, label_of(rank, options.label));
  }
  send_all(start_ranks{});
}

void remote_process_group::send_all(const host_message& m) {
  for (std::uint32_t host = 0; host < hosts_.size(); ++host) connections_.send(host, m);
}

void remote_process_group::watch(std::vector<pollfd>& watched) const {
  watched.push_back({.fd = connections_.descriptor(), .events = POLLIN, .revents = 0});
  watched.push_back({.fd = input_.source(), .events = POLLIN, .revents = 0});
}

void remote_process_group::serve(time_point now, bool, std::vector<rank_end>& ends) {
  std::vector<agent_report> reports;
  connections_.poll(now, reports);
  for (const agent_report& each : reports) hear(each);
  if (auto text = input_.read()) connections_.send(first_host_, input_text{.text = std::move(*text)});
  acknowledge();
  for (const rank_end& each : std::exchange(ends_, {})) ends.push_back(each);
}

void remote_process_group::hear(const agent_report& report) {
  const std::uint32_t host = report.host;
  if (!report.message) return lose(host);
  if (const auto* text = std::get_if<rank_output>(&*report.message)) print(*text, host);
  if (const auto* read = std::get_if<input_taken>(&*report.message)) input_.taken(read->more);
  if (std::holds_alternative<host_done>(*report.message)) finish(host);
  if (const auto* end = std::get_if<rank_ended>(&*report.message)) {
    if (end->rank < ranks_.size()) end_rank(end->rank, end->outcome);
  }
  if (const auto* trouble = std::get_if<host_failed>(&*report.message)) {
    throw setup_error(fmt::format("host {}: {}", hosts_[host].name, trouble->problem));
  }
}

void remote_process_group::print(const rank_output& output, std::uint32_t host) {
  host_state& state = hosts_[host];
  if (state.done || !std::binary_search(state.ranks.begin(), state.ranks.end(), output.rank)) return;
  state.unacknowledged += static_cast<std::uint32_t>(output.text.size());
  (output.to_error ? ranks_[output.rank].error : ranks_[output.rank].output)->take(output.text);
}

/// Acknowledges output once the sinks have room. Tells the agents when standard output has no reader any more.
void remote_process_group::acknowledge() {
  if (out_.sink(false).full() || out_.sink(true).full()) return;
  for (std::uint32_t host = 0; host < hosts_.size(); ++host) {
    if (hosts_[host].unacknowledged == 0) continue;
    connections_.send(host, output_taken{.bytes = std::exchange(hosts_[host].unacknowledged, 0)});
  }
  if (out_.sink(false).lost_reader() && !std::exchange(told_output_closed_, true)) send_all(output_closed{});
}

void remote_process_group::end_rank(std::uint32_t rank, ending ending) {
  if (std::exchange(ranks_[rank].ended, true)) return;
  ends_.push_back({.rank = rank, .outcome = ending});
}

void remote_process_group::lose(std::uint32_t host) {
  for (const std::uint32_t rank : hosts_[host].ranks) end_rank(rank, {.cause = ending::kind::lost, .number = 0});
  finish(host);
}

void remote_process_group::finish(std::uint32_t host) {
  if (std::exchange(hosts_[host].done, true)) return;
  ++done_;
  for (const std::uint32_t rank : hosts_[host].ranks) {
    ranks_[rank].output->end();
    ranks_[rank].error->end();
  }
}

void remote_process_group::signal(int number) { send_all(signal_ranks{.number = number}); }

void remote_process_group::job_ends() {
  if (!std::exchange(told_end_, true)) send_all(tool::job_ends{});
}

}  // namespace nacre::tool
