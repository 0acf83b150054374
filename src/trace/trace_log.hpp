// SPDX-License-Identifier: Apache-2.0
// A trace that is read back: one file, or the files that the processes of a job have left.
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
  enum class role : std::uint8_t { worker, main, poll_loop } what = role::worker;
};

/// What files of untrusted content say, checked. All times are nanoseconds since the start of the job.
class trace_log {
 public:
  /// Reads FILE, or else FILE.0, FILE.1 and so on, the files of the ranks. Throws setup_error, with a line that names
  /// the file and the place, if they are no trace of one job. One without an end, as that of a job that was killed, is
  /// read as far as it goes, and `notes` tells; also of ranks that are missing, as all but one are from FILE.3.
  explicit trace_log(const std::string& path);
  ~trace_log();
  trace_log(const trace_log&) = delete;
  trace_log& operator=(const trace_log&) = delete;

  [[nodiscard]] const job_description& job() const noexcept { return job_; }
  /// Of each rank.
  [[nodiscard]] const std::vector<std::uint32_t>& workers() const noexcept { return workers_; }
  [[nodiscard]] const std::vector<std::string>& hosts() const noexcept { return hosts_; }
  /// Every worker, and of the other thread contexts those that have events; ranks in order, and thread contexts within them.
  [[nodiscard]] const std::vector<track>& tracks() const noexcept { return tracks_; }
  /// When the last rank ended, or the last event.
  [[nodiscard]] std::int64_t end_ns() const noexcept { return end_ns_; }
  /// By how much times of different hosts may be wrong against each other at most, if their clocks run evenly.
  [[nodiscard]] std::int64_t clock_error_ns() const noexcept { return clock_error_ns_; }
  /// What a reader of pictures should know; each a sentence.
  [[nodiscard]] const std::vector<std::string>& notes() const noexcept { return notes_; }

  /// Hands over the events of one track in their order, in pieces. May be called for one track after another and again.
  void visit(std::size_t track_index, const std::function<void(std::span<const event>)>& with) const;

 private:
  struct part;
  struct instant;
  struct rank_of;
  struct block;
  void open_parts(const std::string& path);
  void scan(part& from);
  void take_text(part& from, const block& at);
  void read_job(part& from, const std::string& text, std::size_t place);
  void note_what_is_missing();
  void set_clocks();
  void list_tracks();
  [[nodiscard]] std::vector<std::byte> unpack(const block& at) const;
  void decode(const block& at, std::span<const std::byte> bytes, std::vector<event>& into) const;

  job_description job_;
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
