// SPDX-License-Identifier: Apache-2.0
// Reads a trace back: one file, or the files that the processes of a job have left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "trace/event.hpp"
#include "trace/recorder.hpp"

namespace nacre::trace {

/// One thread of one rank.
struct track {
  std::uint32_t rank = 0;
  std::uint32_t thread = 0;
  enum class role : std::uint8_t { worker, main, poll_loop } kind = role::worker;
};

/// The checked content of a trace; its files may hold any bytes. All times are nanoseconds since the job's start.
class trace_log {
 public:
  /// Reads the file `path`, or else the ranks' files `path`.0, `path`.1 and so on. Throws setup_error, with a line that
  /// names the file and the place, if they are no trace of one job. A trace without an end, such as a killed job
  /// leaves, is read as far as it goes, and notes() says so. notes() also names the ranks without a file; if `path` is
  /// one rank's file, such as FILE.3, these are all others.
  explicit trace_log(const std::string& path);
  ~trace_log();
  trace_log(const trace_log&) = delete;
  trace_log& operator=(const trace_log&) = delete;

  [[nodiscard]] const job_description& job() const noexcept { return job_; }
  /// The names of the program's phases, of all ranks, by the number that events have here; 0 is none.
  [[nodiscard]] const std::vector<std::string>& phases() const noexcept { return phases_; }
  /// The number of workers of each rank.
  [[nodiscard]] const std::vector<std::uint32_t>& workers() const noexcept { return workers_; }
  [[nodiscard]] const std::vector<std::string>& hosts() const noexcept { return hosts_; }
  /// Every worker, and every other thread context that has events; sorted by rank, then by thread context.
  [[nodiscard]] const std::vector<track>& tracks() const noexcept { return tracks_; }
  /// The end of the last rank, or the last event if that is later.
  [[nodiscard]] std::int64_t end_ns() const noexcept { return end_ns_; }
  /// The largest error between times of different hosts, if their clocks run evenly.
  [[nodiscard]] std::int64_t clock_error_ns() const noexcept { return clock_error_ns_; }
  /// Warnings about gaps in the trace, for a person that looks at it; each is a sentence.
  [[nodiscard]] const std::vector<std::string>& notes() const noexcept { return notes_; }

  /// Passes the events of one track to `function`, in order and in pieces. Any track may be visited any number of
  /// times.
  void visit(std::size_t track_index, const std::function<void(std::span<const event>)>& function) const;

 private:
  struct part;
  struct instant;
  struct rank_of;
  struct block;
  [[nodiscard]] bool is_single(const std::string& path);
  void open_parts(const std::string& path);
  void scan(part& part);
  void take_text(part& part, const block& block);
  void read_job(part& part, const std::string& text, std::size_t place);
  void read_phase(const block& block, std::size_t number, const std::string& name);
  void note_what_is_missing();
  void set_clocks();
  void list_tracks();
  [[nodiscard]] std::vector<std::byte> unpack(const block& block) const;
  void decode(const block& block, std::span<const std::byte> bytes, std::vector<event>& events) const;

  job_description job_;
  std::vector<std::string> phases_{{}};
  std::vector<std::unique_ptr<part>> parts_;
  std::vector<rank_of> ranks_;
  std::vector<std::uint32_t> workers_;
  std::vector<std::string> hosts_;
  std::vector<track> tracks_;
  std::vector<std::vector<block>> blocks_;  // by track
  std::vector<std::string> notes_;
  std::int64_t end_ns_ = 0;
  std::int64_t clock_error_ns_ = 0;
};

}  // namespace nacre::trace
