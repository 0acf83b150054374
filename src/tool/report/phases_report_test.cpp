// SPDX-License-Identifier: Apache-2.0
// Reports of a trace with known phases, in every format, compared number by number.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>

#include "tool/report/page_data.hpp"
#include "tool/report/report.hpp"
#include "tool/report/report_test_kit.hpp"
#include "trace/phases.hpp"

namespace nacre::tool {
namespace {

/// Rank 0, in ms: a handler from 1 to 9; in it phase "outer" from 2 to 8, in that "inner" from 3 to 4 and 5 to 6, and
/// the trace is written from 6.5 to 7. Rank 1: a coroutine that waits from 3 to 5 in "outer", which is from 2 to 6.
class known_phases : public testing::Test {
 protected:
  known_phases()
      : path_(testing::TempDir() + "nacre_phases_" + testing::UnitTest::GetInstance()->current_test_info()->name()) {
    {
      trace::file_writer file(path_);
      trace::job_description job;
      job.ranks = 2;
      job.program = "phases";
      job.handlers = {"", "work"};
      tell_job(file, job);
      write_rank(file, 0);
      write_rank(file, 1);
    }
    log_.emplace(path_);
  }
  ~known_phases() override {
    for (const char* end : {"", ".json", ".prv", ".pcf", ".row"}) std::filesystem::remove(path_ + end);
    std::filesystem::remove_all(path_ + ".otf2");
  }

  static void write_rank(trace::file_writer& file, std::uint32_t rank) {
    using trace::event_kind;
    trace::rank_trace::description description;
    description.rank = rank;
    description.thread_contexts = 3;
    description.seconds_a_tick = 1e-6;
    description.thread_bytes = 1 << 16;
    std::uint64_t tick = 0;
    const auto clock = [](const void* now) { return *static_cast<const std::uint64_t*>(now); };
    trace::rank_trace out(file, description, clock, &tick);
    out.tell_clock({0, 0, 0, 0}, 1);
    trace::phase_names names(&file, rank);
    const std::uint32_t inner = rank == 0 ? names.find("inner").number : 0, outer = names.find("outer").number;
    trace::recorder& thread = out.of_thread(0);
    const auto begin = [&](std::uint64_t us, event_kind kind, std::uint32_t number) {
      tick = us;
      thread.add(kind, number);
    };
    const auto end = [&](std::uint64_t us) {
      tick = us;
      thread.add(event_kind::end);
    };
    if (rank == 0) {
      begin(1000, event_kind::handler_begin, 1);
      begin(2000, event_kind::phase_begin, outer);
      begin(3000, event_kind::phase_begin, inner);
      end(4000);
      begin(5000, event_kind::phase_begin, inner);
      end(6000);
      tick = 6500;
      thread.add(event_kind::write_begin);
      end(7000);
      end(8000);
      end(9000);
    } else {
      begin(1000, event_kind::handler_begin, 1);
      begin(2000, event_kind::phase_begin, outer);
      end(3000), end(3000);
      begin(5000, event_kind::resume_begin, 1);
      begin(5000, event_kind::phase_resume, outer);
      end(6000), end(6000);
    }
    tick = 10'000;
    out.tell_clock({10'000, 10'000'000, 0, 0}, 1);
    out.finish();
  }
  static std::string contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  std::string path_;
  std::optional<trace::trace_log> log_;
};

TEST_F(known_phases, as_text) {
  const std::string text = plain(text_report(*log_));
  EXPECT_NE(text.find("phases seconds with inner longest s mean a rank most a rank (rank) imbalance phase "
                      "2 0.006000 0.008000 0.006000 0.003000 0.004000 0 1.33 outer "
                      "2 0.002000 0.002000 0.001000 0.001000 0.002000 0 2.00 inner "
                      "rank seconds phase 0 0.004000 outer 1 0.002000 outer 0 0.002000 inner "),
            text.npos)
      << text;
  EXPECT_NE(text.find("2 0.010500 0.005500 work"), text.npos) << "phases cut no handler: " << text;
}

TEST_F(known_phases, for_perfetto) {
  write_perfetto(*log_, path_ + ".json");
  std::string slices, threads;
  const auto read = nlohmann::json::parse(contents(path_ + ".json"));
  for (const auto& each : read["traceEvents"]) {
    const auto place = [&] { return each["pid"].dump() + "." + each["tid"].dump() + " "; };
    if (each["ph"] == "X" && each["cat"] == "phase") {
      slices += place() + std::string(each["name"]) + " " + each["ts"].dump() + "+" + each["dur"].dump() + "\n";
    }
    if (each["name"] == "thread_name") threads += place() + std::string(each["args"]["name"]) + "\n";
  }
  EXPECT_EQ(slices,
            "0.1000000 inner 3000.0+1000.0\n0.1000000 inner 5000.0+1000.0\n0.1000000 outer 2000.0+6000.0\n"
            "1.1000000 outer 2000.0+1000.0\n1.1000000 outer 5000.0+1000.0\n");
  EXPECT_EQ(threads, "0.0 worker 0\n0.1000000 phases of worker 0\n1.0 worker 0\n1.1000000 phases of worker 0\n");
}

TEST_F(known_phases, for_paraver) {
  write_paraver(*log_, path_);
  std::istringstream lines(contents(path_ + ".prv"));
  std::string changes;
  for (std::string line; std::getline(lines, line);) {
    if (line.find(":90000004:") != line.npos) changes += line + "\n";
  }
  EXPECT_EQ(changes,
            "2:1:1:1:1:2000000:90000004:2\n2:2:1:2:1:2000000:90000004:2\n2:1:1:1:1:3000000:90000004:1\n"
            "2:2:1:2:1:3000000:90000004:0\n2:1:1:1:1:4000000:90000004:2\n2:1:1:1:1:5000000:90000004:1\n"
            "2:2:1:2:1:5000000:90000004:2\n2:1:1:1:1:6000000:90000004:2\n2:2:1:2:1:6000000:90000004:0\n"
            "2:1:1:1:1:8000000:90000004:0\n");
  EXPECT_NE(plain(contents(path_ + ".pcf")).find("6 90000004 phase VALUES 0 none 1 inner 2 outer"), std::string::npos);
}

#if defined(NACRE_WITH_OTF2)
TEST_F(known_phases, for_vampir_are_regions_that_nest_with_the_handlers) {
  if (std::system("command -v otf2-print >/dev/null") != 0) GTEST_SKIP() << "there is no otf2-print (otf2-tools)";
  write_otf2(*log_, path_ + ".otf2");
  ASSERT_EQ(std::system(("otf2-print " + path_ + ".otf2/traces.otf2 >" + path_ + ".json").c_str()), 0);
  std::istringstream lines(contents(path_ + ".json"));
  std::string events;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string kind, location, time, label, name;
    words >> kind >> location >> time >> label >> name;
    std::erase(name, '"');
    if ((kind != "ENTER" && kind != "LEAVE") || name == "idle") continue;
    if (name == "runtime" && location == "1") continue;
    events += location + " " + time + " " + kind.substr(0, 1) + " " + name + "\n";
  }
  EXPECT_EQ(events,
            "0 1000000 E work\n1 1000000 E work\n0 2000000 E outer\n1 2000000 E outer\n0 3000000 E inner\n"
            "1 3000000 L outer\n1 3000000 L work\n0 4000000 L inner\n0 5000000 E inner\n"
            "1 5000000 E work\n1 5000000 E outer\n0 6000000 L inner\n1 6000000 L outer\n1 6000000 L work\n"
            "0 6500000 L outer\n0 6500000 L work\n0 6500000 E runtime\n0 6500000 E outer\n"
            "0 7000000 L outer\n0 7000000 L runtime\n0 7000000 E work\n0 7000000 E outer\n"
            "0 8000000 L outer\n0 9000000 L work\n");
}
#endif

TEST_F(known_phases, for_a_page) {
  const auto page = nlohmann::json::parse(page_data(*log_, take_survey(*log_)));
  EXPECT_EQ(page["phases"]["list"],
            nlohmann::json::parse(R"([[2,"outer",2,6000000,8000000,6000000,3000000,4000000,0],)"
                                  R"([1,"inner",2,2000000,2000000,1000000,1000000,2000000,0]])"));
  EXPECT_EQ(page["phases"]["ends"].size(), 2U);
  EXPECT_GT(page["phases"]["bytes"].get<std::string>().size(), 20U);
  page_bounds few;
  few.phase_spans = 1;
  const auto small = nlohmann::json::parse(page_data(*log_, take_survey(*log_), few));
  EXPECT_LT(small["phases"]["bytes"].get<std::string>().size(), 13U) << "the longest only";
  EXPECT_EQ(small["phases"]["list"], page["phases"]["list"]);
}

}  // namespace
}  // namespace nacre::tool
