// SPDX-License-Identifier: Apache-2.0
// The ranks of a job on several hosts, each host with an agent that starts and ends them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "join/launch/control_server.hpp"
#include "tool/hosts/agent_connections.hpp"
#include "tool/hosts/remote_input.hpp"
#include "tool/printer.hpp"
#include "tool/process_group.hpp"
#include "tool/run_job.hpp"

namespace nacre::tool {

/// The launcher's state that the process_group uses, besides the options of the job.
struct remote_surroundings {
  const launch::control_server& server;
  const job_secret& secret;
  net::address listen_at;              ///< where agents connect
  std::vector<std::string> variables;  ///< "NAME=value", for every rank
  int signals = -1;                    ///< a signalfd, read while agents are being started
};

/// See process_group. On each host an agent (host_agent.hpp) starts the ranks; when its connection is lost, its ranks
/// have ended.
class remote_process_group final : public process_group {
 public:
  /// Blocks until every host is ready, then lets all ranks start. Throws setup_error or interrupted_start.
  remote_process_group(const job_options& options, const remote_surroundings& remote_surroundings, printer& out);

  void watch(std::vector<pollfd>& watched) const override;
  void serve(time_point now, bool child, std::vector<rank_end>& ends) override;
  void signal(int number) override;
  void job_ends() override;
  [[nodiscard]] bool has_output() const override { return done_ < hosts_.size(); }
  /// Of an agent that does not end, since each one bounds this time itself.
  [[nodiscard]] std::chrono::milliseconds last_output_time() const override { return std::chrono::seconds(10); }

 private:
  struct host_state {
    std::string name;
    std::vector<std::uint32_t> ranks;
    std::uint32_t unacknowledged = 0;  // bytes of output
    bool done = false;
  };
  struct rank_state {
    line_relay* output = nullptr;
    line_relay* error = nullptr;
    bool ended = false;
  };
  void send_all(const host_message& m);
  void hear(const agent_report& report);
  void print(const rank_output& rank_output, std::uint32_t host);
  void end_rank(std::uint32_t rank, ending ending);
  void lose(std::uint32_t host);
  void finish(std::uint32_t host);
  void acknowledge();

  printer& out_;
  agent_connections connections_;
  remote_input input_;
  std::vector<host_state> hosts_;
  std::vector<rank_state> ranks_;
  std::vector<rank_end> ends_;
  std::size_t done_ = 0;          // hosts
  std::uint32_t first_host_ = 0;  // of rank 0
  bool told_output_closed_ = false;
  bool told_end_ = false;
};

}  // namespace nacre::tool
