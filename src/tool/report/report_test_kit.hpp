// SPDX-License-Identifier: Apache-2.0
// For tests of reports: a trace with known events.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>

#include "trace/recorder.hpp"
#include "trace/trace_log.hpp"

namespace nacre::tool {

/// The words of a text, separated by single blanks.
inline std::string plain(const std::string& text) {
  std::istringstream words(text);
  std::string all;
  for (std::string each; words >> each;) all += (all.empty() ? "" : " ") + each;
  return all;
}

/// Ten milliseconds of two ranks with two workers each, and the main of rank 0. An object migrates from rank 0 to rank
/// 1; worker 1 of rank 0 steals from worker 0 of that rank.
class known : public testing::Test {
 protected:
  known() : path_(testing::TempDir() + "nacre_" + testing::UnitTest::GetInstance()->current_test_info()->name()) {
    {
      trace::file_writer file(path_);
      trace::job_description job;
      job.ranks = 2;
      job.program = "known";
      job.transport = "inproc";
      job.balancer = "none";
      job.handlers = {"", "one", "two", "three"};
      tell_job(file, job);
      write_rank(file, 0);
      write_rank(file, 1);
    }
    log_.emplace(path_);
  }
  ~known() override {
    for (const char* end : {"", ".json", ".prv", ".pcf", ".row"}) std::filesystem::remove(path_ + end);
    std::filesystem::remove_all(path_ + ".otf2");
  }

  static void write_rank(trace::file_writer& file, std::uint32_t rank) {
    using trace::event_kind;
    constexpr std::uint64_t start = 1000;
    trace::rank_trace::description description;
    description.rank = rank;
    description.workers = 2;
    description.thread_contexts = 4;
    description.seconds_a_tick = 1e-6;
    description.thread_bytes = 1 << 16;
    trace::rank_trace out(
        file, description, [](const void*) { return tick_; }, nullptr);
    out.tell_clock({start, 0, 0, 0}, 1);
    const auto function = [&](std::uint32_t thread, std::uint64_t us) -> trace::recorder& {
      tick_ = start + us;
      return out.of_thread(thread);
    };
    if (rank == 0) {
      function(0, 1000).begin(event_kind::handler_begin, 1);
      function(0, 1100).send(1, 200);
      function(0, 1500).add(event_kind::depart, 7, 1, 3);
      function(0, 3000).end();
      function(0, 4000).add(event_kind::idle_begin);
      function(0, 5000).add(event_kind::end);
      function(0, 5000).begin(event_kind::module_begin, 3);
      function(0, 5500).end();
      function(1, 0).add(event_kind::idle_begin);
      function(1, 2000).add(event_kind::end);
      function(1, 2000).steal(2, 1);
      function(1, 2100).begin(event_kind::handler_begin, 2);
      function(1, 2200).add(event_kind::create, 9);
      function(1, 6000).end();
      function(2, 0).add(event_kind::main_begin);
      function(2, 900).add(event_kind::end);
    } else {
      function(0, 0).add(event_kind::idle_begin);
      function(0, 2500).begin(event_kind::module_begin, 3);
      function(0, 2600).add(event_kind::arrive, 7, 0, 3);
      function(0, 2700).end();
      function(0, 2700).add(event_kind::end);
      function(0, 3500).begin(event_kind::resume_begin, 1);
      function(0, 3600).send(0, 50);
      function(0, 3700).send(0, 60);
      function(0, 9500).end();
      function(0, 9600).add(event_kind::wave);
    }
    out.tell_clock({start + 10'000, 10'000'000, 0, 0}, 1);
    out.finish();
  }
  static std::string text_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  static inline std::uint64_t tick_ = 0;  // in microseconds
  std::string path_;
  std::optional<trace::trace_log> log_;
};

}  // namespace nacre::tool
