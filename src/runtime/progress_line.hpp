// SPDX-License-Identifier: Apache-2.0
// A line on the terminal with the progress of a long run.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "am/am_engine.hpp"
#include "base/clock.hpp"

namespace nacre {

/// The progress of a rank since its start.
struct rank_progress {
  std::uint64_t handlers = 0;
  double busy_seconds = 0;  ///< of all its workers
  std::uint32_t workers = 0;
  std::uint32_t idle_workers = 0;

  template <class Archive>
  void serialize(Archive& ar) {
    ar(handlers, busy_seconds, workers, idle_workers);
  }
};

/// Rewrites one line of standard error, which must reach a terminal, and erases it in the end. Any thread.
class terminal_line {
 public:
  ~terminal_line() { erase(); }
  [[nodiscard]] static bool possible() noexcept;
  void show(const std::string& text);
  /// Erases the line; later calls of show do nothing.
  void erase();

 private:
  std::mutex mutex_;
  bool shown_ = false;
  bool is_over_ = false;
};

/// Makes the text of the line from the progress of the ranks now and at the last call.
class progress_teller {
 public:
  /// `answered`: number of ranks with new values in `now`. `time`: seconds since the start.
  [[nodiscard]] std::string text(const std::vector<rank_progress>& now, std::size_t answered, double time);

 private:
  std::vector<rank_progress> previous_;
  double before_at_ = 0;
};

/// The progress line as a module of a rank's am engine. Rank 0 asks the others and shows the line.
class progress_module {
 public:
  /// `duration`: run time after which the line appears; 0: never. Under simulation it does not appear; see job.cpp.
  progress_module(am_engine& messages, clock& time, std::chrono::nanoseconds duration,
                  std::function<rank_progress()> look);

  /// Inside the poll loop; returns the latest time of the next call.
  [[nodiscard]] std::chrono::nanoseconds poll(thread_context& thread);
  /// The job is over.
  void end() { line_.erase(); }

  // From other ranks.
  void on_question(context& ctx);
  void on_answer(context& ctx, rank_progress rank_progress);

 private:
  am_engine& messages_;
  clock& time_;
  std::chrono::nanoseconds started_;
  std::chrono::nanoseconds due_;  // max: never
  std::chrono::nanoseconds interval_;
  std::function<rank_progress()> look_;
  // By rank; empty while there is no line.
  std::vector<rank_progress> known_;
  std::vector<bool> answered_;  // since the last question
  bool asked_ = false;          // rank 0 has asked the others at least once
  progress_teller teller_;
  terminal_line line_;
};

}  // namespace nacre
