// SPDX-License-Identifier: Apache-2.0
// A line on the terminal that tells how a long run gets on.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "am/am_engine.hpp"
#include "base/clock.hpp"

namespace nacre {

/// What a rank has done since its start.
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

/// Rewrites one line of standard error, if that is a terminal, and erases it in the end. Any thread.
class terminal_line {
 public:
  ~terminal_line() { erase(); }
  [[nodiscard]] static bool possible() noexcept;
  void show(const std::string& text);
  /// The last word: nothing is shown afterwards.
  void erase();

 private:
  std::mutex mutex_;
  bool shown_ = false;
  bool over_ = false;
};

/// Makes the text of the line of what is known of the ranks, and of what was known before.
class progress_teller {
 public:
  /// `answered`: of how many ranks `now` is new. `at`: seconds since the start.
  [[nodiscard]] std::string text(const std::vector<rank_progress>& now, std::size_t answered, double at);

 private:
  std::vector<rank_progress> before_;
  double before_at_ = 0;
};

/// One rank's part, as a module of its am_engine. Rank 0 asks the others, and tells.
class progress_module {
 public:
  /// `after`: how long a run lasts before the line appears; 0: it never does. Under simulation it does not either: see
  /// job.cpp.
  progress_module(am_engine& messages, clock& time, std::chrono::nanoseconds after,
                  std::function<rank_progress()> look);

  /// Inside the poll loop; returns when to call again at the latest.
  [[nodiscard]] std::chrono::nanoseconds poll(thread_context& by);
  /// The job is over.
  void end() { line_.erase(); }

  // From other ranks.
  void on_question(context& ctx);
  void on_answer(context& ctx, rank_progress own);

 private:
  am_engine& messages_;
  clock& time_;
  std::chrono::nanoseconds started_;
  std::chrono::nanoseconds due_;  // max: never
  std::chrono::nanoseconds interval_;
  std::function<rank_progress()> look_;
  // By rank; empty where and as long as there is no line.
  std::vector<rank_progress> known_;
  std::vector<bool> answered_;  // since the last question
  bool asked_ = false;          // the others, at all
  progress_teller teller_;
  terminal_line line_;
};

}  // namespace nacre
