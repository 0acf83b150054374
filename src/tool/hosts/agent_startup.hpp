// SPDX-License-Identifier: Apache-2.0
// Starts an agent on every host of a job, a bounded number at a time, and waits until all are ready.
#pragma once

#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <nacre/error.hpp>

#include "tool/hosts/agent_connections.hpp"
#include "tool/hosts/host_message.hpp"
#include "tool/rank_process.hpp"

namespace nacre::tool {

/// Limit of remote shells that run at a time. A shell ends as soon as its agent has called the launcher and gone to the
/// background. So a job holds one connection for each host, but no process.
inline constexpr std::uint32_t shells_max = 64;

/// How agents are started.
struct agent_startup_options {
  std::vector<std::string> shell;       ///< its words; empty: all agents start on this host
  std::string nacre;                    ///< the path of nacre on the hosts
  std::chrono::seconds start_time{30};  ///< for a host's answer, from the start of its shell
};

/// Thrown when a signal comes while agents are being started.
struct interrupted_start {
  int signal = 0;
};

/// Thrown when a host cannot be used: the shell fails, or its agent does not answer, fails or is lost.
class host_failure : public setup_error {
 public:
  template <class Text>
  host_failure(std::string name, const Text& text) : setup_error(text), host(std::move(name)) {}
  std::string host;
};

/// Starts all agents of a job and waits for them.
///
/// | host | event | then |
/// |---|---|---|
/// | waiting | fewer than shells_max shells run | its shell is started and gets its host_launch_spec: starting |
/// | starting | host_ready comes from its agent | ready |
/// | starting | its shell fails, or start_time is over | run throws |
/// | starting, ready | host_failed comes, or the connection ends | run throws |
/// | ready | its program differs from that of another host | run throws |
///
/// Invariant: no rank starts before all hosts are ready. One thread.
class agent_startup {
 public:
  /// `host_specs` by host. `signals` is a signalfd for SIGCHLD and the signals that interrupt.
  agent_startup(const agent_startup_options& options, std::vector<host_launch_spec> host_specs,
                agent_connections& connections, int signals);
  agent_startup(const agent_startup&) = delete;
  agent_startup& operator=(const agent_startup&) = delete;
  /// Kills the shells that still run.
  ~agent_startup();

  /// Blocks until all are ready. Throws host_failure; setup_error where the hosts have different programs;
  /// interrupted_start.
  void run();

 private:
  enum class progress : std::uint8_t { waiting, starting, ready };
  struct member {
    host_launch_spec host_spec;
    progress state = progress::waiting;
    std::vector<std::string> command;
    pid_t shell = 0;  // 0: none runs
    unique_fd input;  // a pipe, until `unsent` is written
    std::vector<std::byte> unsent;
    unique_fd output;
    unique_fd error;
    std::string said;  // the last part of its standard error
    time_point deadline;
    host_ready program;
  };

  void start_some(time_point now);
  void start(member& one, time_point now);
  void wait(time_point now) const;
  void read_signals();
  void move_bytes(member& one);
  void reap(member& one);
  void listen(time_point now);
  void check_program(const member& one) const;
  void check_time(member& one, time_point now);

  agent_startup_options options_;
  agent_connections& connections_;
  int signals_;
  std::vector<member> members_;
  std::uint32_t next_ = 0;  // the next to start
  std::uint32_t shells_ = 0;
  std::uint32_t ready_ = 0;
};

}  // namespace nacre::tool
