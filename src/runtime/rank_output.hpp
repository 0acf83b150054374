// SPDX-License-Identifier: Apache-2.0
// The output of a rank: its trace while it runs, its summary and its load trace at the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <nacre/config.hpp>
#include <nacre/scheduler.hpp>

#include "balance/load/load_trace.hpp"
#include "trace/phases.hpp"
#include "trace/recorder.hpp"
#include "trace/summary.hpp"

namespace nacre {

class engine;
class thread_context;

/// Main's thread calls it, before main and after it. `begin` and `end` are collective. It lives longer than the rank's
/// thread contexts, which write to its trace.
class rank_output {
 public:
  /// `processors`: that the rank's threads may use, for the summary.
  rank_output(engine& core, const config& configuration, const scheduler& order, bool simulated, std::string processors)
      : rank_(core),
        configuration_(configuration),
        order_(order),
        simulated_(simulated),
        processors_(std::move(processors)) {}

  /// Records a trace into `file`, with that much memory for each thread context. Before anything runs.
  void record_trace(trace::file_writer& file, std::size_t thread_bytes);
  /// Counts the phases of the program, if somebody asks for them. `file`: of the trace; null: none is recorded. After
  /// record_trace, and before anything runs.
  void count_phases(trace::file_writer* file);
  /// Records the loads of objects. Before anything runs.
  void record_load();

  void begin(thread_context& thread);
  /// The trace ends when the counters of the summary are read, so that both agree.
  void end(thread_context& thread);
  /// The rank's threads have ended.
  void finish();
  /// After the end: whether all files that were asked for have been written.
  [[nodiscard]] bool left_all() const noexcept { return left_all_; }

 private:
  [[nodiscard]] bool wants_summary() const;
  void tell_clock(thread_context& thread);
  [[nodiscard]] trace::summary own_summary() const;
  void print_summary(thread_context& thread, const trace::summary& summary);
  void write_load_trace(thread_context& thread);
  void leave(const std::string& name, const std::string& path, const std::string& text);
  void tell_lost(const std::string& name, const std::string& path, const std::string& fault);

  engine& rank_;
  const config& configuration_;
  const scheduler& order_;
  const bool simulated_;
  const std::string processors_;
  std::unique_ptr<trace::rank_trace> trace_;    // null: no trace
  std::unique_ptr<trace::rank_phases> phases_;  // null: neither a trace nor a summary
  std::uint64_t job_number_ = 0;
  bool shares_clock_ = true;                          // reads the same clock as rank 0
  std::unique_ptr<balance::load_recorder> recorder_;  // null unless asked for
  bool left_all_ = true;
};

}  // namespace nacre
