// SPDX-License-Identifier: Apache-2.0
// Reports of a trace with messages of which the program wants lines, in every format, compared number by number.
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

#include <nacre/error.hpp>

#include "tool/report/page_data.hpp"
#include "tool/report/report.hpp"
#include "tool/report/report_test_kit.hpp"

namespace nacre::tool {
namespace {

/// Two ranks of one worker, each of which runs a handler from 1 to 9 ms. Rank 1 asks rank 0 twice, and gets work for
/// the second request. Another message has no departure, and one arrives before it departs, as clocks may differ.
class known_messages : public testing::Test {
 protected:
  known_messages()
      : path_(testing::TempDir() + "nacre_messages_" + testing::UnitTest::GetInstance()->current_test_info()->name()) {
    {
      trace::file_writer file(path_);
      trace::job_description job;
      job.ranks = 2;
      job.program = "messages";
      job.handlers = {"", "search", "on_request", "on_work"};
      tell_job(file, job);
      write_rank(file, 0);
      write_rank(file, 1);
    }
    log_.emplace(path_);
  }
  ~known_messages() override {
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
    const auto worker = [&](std::uint64_t us) -> trace::recorder& {
      tick = us;
      return out.of_thread(0);
    };
    worker(1000).begin(event_kind::handler_begin, 1);
    if (rank == 0) {
      worker(5000).add(event_kind::message_arrives, 8, 1, 1);
      worker(5000).add(event_kind::message_departs, 8, 1, 3);
      worker(7000).add(event_kind::message_departs, 9, 1, 77);  // 77 is no handler
    } else {
      worker(2000).add(event_kind::message_departs, 7, 0, 2);
      worker(4000).add(event_kind::message_departs, 8, 0, 2);
      worker(6000).add(event_kind::message_arrives, 8, 0, 240);
      worker(6500).add(event_kind::message_arrives, 6, 0, 10);
      worker(6900).add(event_kind::message_arrives, 9, 0, 20);
    }
    worker(9000).end();
    tick = 10'000;
    out.tell_clock({10'000, 10'000'000, 0, 0}, 1);
    out.finish();
  }

  static std::string contents_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  std::string path_;
  std::optional<trace::trace_log> log_;
};

TEST_F(known_messages, as_text) {
  const std::string text = plain(text_report(*log_));
  EXPECT_TRUE(text.ends_with("lines bytes to handler 1 20 ? 1 1 on_request 1 240 on_work")) << text;
}

TEST_F(known_messages, for_paraver) {
  write_paraver(*log_, path_);
  std::istringstream lines(contents_of(path_ + ".prv"));
  std::string communications;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("3:")) communications += line + "\n";
  }
  EXPECT_EQ(communications,
            "3:2:1:2:1:4000000:4000000:1:1:1:1:5000000:5000000:1:2\n"
            "3:1:1:1:1:5000000:5000000:2:1:2:1:6000000:6000000:240:3\n"
            "3:1:1:1:1:7000000:7000000:2:1:2:1:7000000:7000000:20:0\n");
}

TEST_F(known_messages, for_perfetto) {
  write_perfetto(*log_, path_ + ".json");
  const auto read = nlohmann::json::parse(contents_of(path_ + ".json"));
  std::string arrows;
  for (const auto& each : read["traceEvents"]) {
    const std::string phase = each["ph"], name = each["name"];
    if (phase != "s" && phase != "f") continue;
    arrows += phase + each["id"].dump() + " " + each["pid"].dump() + " " + name + " " + each["ts"].dump() + "\n";
  }
  EXPECT_EQ(arrows,
            "s1 1 on_request 4000.0\nf1 0 on_request 5000.0\ns2 0 on_work 5000.0\nf2 1 on_work 6000.0\n"
            "s3 0 message 7000.0\nf3 1 message 6900.0\n");
}

TEST_F(known_messages, for_a_page) {
  const auto data = nlohmann::json::parse(page_data(*log_, take_survey(*log_), {}));
  EXPECT_EQ(data["traced"], nlohmann::json::parse(R"({"count":3,"list":[4000000,1000000,1,0,5000000,1000000,0,1,)"
                                                  R"(7000000,-100000,0,1]})"));
}

#if defined(NACRE_WITH_OTF2)
TEST_F(known_messages, for_vampir) {
  if (std::system("command -v otf2-print >/dev/null") != 0) GTEST_SKIP() << "there is no otf2-print (otf2-tools)";
  write_otf2(*log_, path_ + ".otf2");
  ASSERT_EQ(std::system(("otf2-print " + path_ + ".otf2/traces.otf2 >" + path_ + ".json").c_str()), 0);
  std::istringstream lines(contents_of(path_ + ".json"));
  int sent = 0, received = 0;
  for (std::string line; std::getline(lines, line);) {
    sent += line.starts_with("MPI_SEND") ? 1 : 0;
    received += line.starts_with("MPI_RECV") ? 1 : 0;
    if (line.starts_with("MPI_SEND") && line.find("5000000") != std::string::npos) {
      EXPECT_NE(line.find("Tag: 3, Length: 240"), std::string::npos) << line;
      EXPECT_NE(line.find("messages"), std::string::npos) << line;
    }
  }
  EXPECT_EQ(sent, 3);
  EXPECT_EQ(received, 3);
}
#endif

TEST_F(known_messages, to_ranks_that_there_are_not_are_damage) {
  {
    trace::file_writer file(path_);
    trace::job_description job;
    job.ranks = 2;
    tell_job(file, job);
    trace::rank_trace::description description;
    description.thread_contexts = 1;
    description.thread_bytes = 1 << 16;
    trace::rank_trace out(
        file, description, [](const void*) { return std::uint64_t{5}; }, nullptr);
    out.tell_clock({0, 0, 0, 0}, 1);
    out.of_thread(0).add(trace::event_kind::message_arrives, 1, 2, 3);
    out.finish();
  }
  EXPECT_THROW(static_cast<void>(trace::trace_log(path_)), setup_error);
}

}  // namespace
}  // namespace nacre::tool
