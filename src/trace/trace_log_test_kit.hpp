// SPDX-License-Identifier: Apache-2.0
// For tests of trace files: writes small files, and reads them back.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include <nacre/error.hpp>

#include "trace/file_writer.hpp"
#include "trace/recorder.hpp"
#include "trace/trace_log.hpp"

namespace nacre::trace {

inline std::uint64_t virtual_now = 0;  // for the recorders below

inline job_description two_ranks() {
  job_description job;
  job.ranks = 2;
  job.program = "test";
  job.transport = "sim";
  job.handlers = {"", "first", "second"};
  return job;
}

/// Writes the trace of the one worker of `rank`, which runs a handler of 10 ns every 30 ns.
inline void fill(file_writer& file, std::uint32_t rank, std::uint64_t host_ns, std::int64_t offset, std::uint64_t job,
                 int handlers, std::size_t thread_bytes = 1 << 16) {
  virtual_now = 1000;
  rank_trace trace(
      file,
      {.rank = rank,
       .workers = 1,
       .thread_contexts = 3,
       .seconds_a_tick = 2e-9,
       .host = "here",
       .thread_bytes = thread_bytes},
      [](const void*) { return virtual_now; }, nullptr);
  trace.tell_clock({virtual_now, static_cast<std::int64_t>(host_ns), offset}, job);
  recorder& thread = trace.of_thread(0);
  for (int each = 0; each < handlers; ++each) {
    virtual_now += 10;
    thread.add(event_kind::handler_begin, 2);
    thread.add(event_kind::send, 1 - rank, 300);
    virtual_now += 5;
    thread.add(event_kind::end);
    thread.rest();
  }
  const std::uint64_t passed = virtual_now - 1000;
  trace.tell_clock({virtual_now, static_cast<std::int64_t>(host_ns + 2 * passed), offset}, job);
  trace.finish();
}

class files : public testing::Test {
 protected:
  files() : path_(testing::TempDir() + "nacre_" + testing::UnitTest::GetInstance()->current_test_info()->name()) {}
  ~files() override {
    for (const char* end : {"", ".0", ".1", ".2"}) std::filesystem::remove(path_ + end);
  }
  [[nodiscard]] std::string read() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  void write(const std::string& bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }
  /// One file for two ranks, each with `handlers` handlers in small blocks.
  void write_two_ranks(int handlers) const {
    file_writer file(path_);
    tell_job(file, two_ranks());
    fill(file, 0, 5000, 0, 7, handlers, 400);
    fill(file, 1, 5000, 0, 7, handlers, 400);
  }
  /// One file for each of two ranks. The second may name another job.
  void write_file_for_each_rank(std::uint64_t job_of_second = 7) const {
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      file_writer file(path_ + "." + std::to_string(rank));
      tell_job(file, two_ranks());
      fill(file, rank, 5000, 0, rank == 0 ? 7 : job_of_second, 10);
    }
  }
  /// Reads the file into seen_. Returns the reader's error, empty if it has read the whole file.
  [[nodiscard]] std::string refusal() {
    try {
      const trace_log log(path_);
      seen_.clear();
      for (std::size_t index = 0; index < log.tracks().size(); ++index) {
        log.visit(index, [this](std::span<const event> events) {
          for (const event& each : events) seen_.push_back({each.ns, each.a, each.b, static_cast<int>(each.kind)});
        });
      }
    } catch (const setup_error& error) {
      return error.what();
    }
    return {};
  }
  std::string path_;
  std::vector<std::tuple<std::int64_t, std::uint64_t, std::uint64_t, int>> seen_;  // by the last reader
};

}  // namespace nacre::trace
