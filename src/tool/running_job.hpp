// SPDX-License-Identifier: Apache-2.0
// The processes of a job that runs, and the loop that serves them.
#pragma once

#include <poll.h>

#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "tool/line_relay.hpp"
#include "tool/rank_process.hpp"
#include "tool/run_job.hpp"
#include "tool/standard_input.hpp"
#include "tool/supervisor.hpp"
#include "transport/launch/rendezvous.hpp"

namespace nacre::tool {

/// Starts the ranks, then waits on everything at once: signals, control lines, output, input, deadlines. What the ranks
/// do goes to the supervisor; what it decides is done here. The destructor kills what still runs.
class running_job {
 public:
  explicit running_job(const job_options& options);
  running_job(const running_job&) = delete;
  running_job& operator=(const running_job&) = delete;
  ~running_job();

  /// Until the last rank has ended and its output has been passed on. Returns the exit code.
  [[nodiscard]] int run();

 private:
  struct process {
    pid_t pid = 0;
    bool running = true;
  };

  void start_ranks(const job_options& options);
  void wait();
  /// True when a child may have ended.
  bool read_signals();
  void reap();
  void listen_to_ranks(time_point now);
  void obey(const orders& what);
  void signal_groups(int signal) const noexcept;
  void suspend() const noexcept;
  void pass_output_on(time_point now);
  void drain();
  [[nodiscard]] int milliseconds_to_sleep(time_point now) const;

  line_sink output_;
  line_sink error_;
  unique_fd signals_;
  job_secret secret_;
  transport::launch::rendezvous rendezvous_;
  supervisor supervisor_;
  standard_input input_;
  std::vector<process> processes_;  // by rank
  std::list<line_relay> relays_;
  std::optional<time_point> unfinished_since_;
};

}  // namespace nacre::tool
