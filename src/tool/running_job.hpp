// SPDX-License-Identifier: Apache-2.0
// The processes of a job that runs, and the loop that serves them.
#pragma once

#include <memory>
#include <vector>

#include "join/launch/control_server.hpp"
#include "tool/printer.hpp"
#include "tool/process_group.hpp"
#include "tool/run_job.hpp"
#include "tool/supervisor.hpp"

namespace nacre::tool {

/// Starts the ranks, then runs one poll loop for signals, launcher connections, output, input and deadlines. The loop
/// reports events to the supervisor and carries out its orders. The destructor kills the ranks that still run.
class running_job {
 public:
  /// Throws setup_error or interrupted_start; no rank runs then.
  explicit running_job(const job_options& options);
  running_job(const running_job&) = delete;
  running_job& operator=(const running_job&) = delete;

  /// Returns the exit code, after the last rank has ended and its output has been passed on.
  [[nodiscard]] int run();
  /// After run.
  [[nodiscard]] const supervisor& supervised() const noexcept { return supervisor_; }
  /// Whether the reader of standard output or standard error has gone, so that ranks end which write to it.
  [[nodiscard]] bool has_lost_reader() const noexcept {
    return printer_.sink(false).lost_reader() || printer_.sink(true).lost_reader();
  }

 private:
  void wait();
  /// Reads the pending signals. Returns true when a child may have ended.
  bool read_signals();
  void serve_process_group(time_point now, bool child);
  void report_ends(time_point now);
  void listen_to_ranks(time_point now);
  void apply(const orders& orders);
  void suspend() const;
  /// Passes on the output of the ranks.
  void drain();
  [[nodiscard]] int milliseconds_to_sleep(time_point now) const;

  /// The end of a rank's process may be known before the last messages of the rank, which come by a socket. So it is
  /// held until the connection of the rank has ended, too, or until then: a process that the rank has forked may keep
  /// the connection.
  struct held_end {
    rank_end end;
    time_point until;
  };

  printer printer_;
  unique_fd signals_;
  job_secret secret_;
  launch::control_server control_server_;
  supervisor supervisor_;
  std::unique_ptr<process_group> process_group_;
  std::vector<held_end> held_;
  bool is_interrupted_ = false;  // by a signal
};

}  // namespace nacre::tool
