// SPDX-License-Identifier: Apache-2.0
// A trace of which every event is known, in every format of a report: to the number.
#include "tool/report/report.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <nacre/error.hpp>

#include "tool/report/page_data.hpp"
#include "tool/report/survey.hpp"
#include "trace/recorder.hpp"
#include "trace/trace_log.hpp"

namespace nacre::tool {
namespace {

using trace::event_kind;

std::uint64_t tick = 0;  // of a microsecond

/// Two ranks of two workers, and the main of the first, for ten milliseconds. An object leaves rank 0 and comes to rank
/// 1; worker 1 of rank 0 steals from worker 0 beside it.
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
    constexpr std::uint64_t start = 1000;
    trace::rank_trace::description of;
    of.rank = rank;
    of.workers = 2;
    of.lanes = 4;
    of.seconds_a_tick = 1e-6;
    of.lane_bytes = 1 << 16;
    trace::rank_trace out(
        file, of, [](const void*) { return tick; }, nullptr);
    out.tell_clock({start, 0, 0, 0}, 1);
    const auto at = [&](std::uint32_t lane, std::uint64_t us) -> trace::recorder& {
      tick = start + us;
      return out.of_lane(lane);
    };
    if (rank == 0) {
      at(0, 1000).begin(event_kind::handler_begin, 1);
      at(0, 1100).send(1, 200);
      at(0, 1500).add(event_kind::depart, 7, 1, 3);
      at(0, 3000).end();
      at(0, 4000).add(event_kind::idle_begin);
      at(0, 5000).add(event_kind::end);
      at(0, 5000).begin(event_kind::part_begin, 3);
      at(0, 5500).end();
      at(1, 0).add(event_kind::idle_begin);
      at(1, 2000).add(event_kind::end);
      at(1, 2000).steal(2, 1);
      at(1, 2100).begin(event_kind::handler_begin, 2);
      at(1, 2200).add(event_kind::create, 9);
      at(1, 6000).end();
      at(2, 0).add(event_kind::main_begin);
      at(2, 900).add(event_kind::end);
    } else {
      at(0, 0).add(event_kind::idle_begin);
      at(0, 2500).begin(event_kind::part_begin, 3);
      at(0, 2600).add(event_kind::arrive, 7, 0, 3);
      at(0, 2700).end();
      at(0, 2700).add(event_kind::end);
      at(0, 3500).begin(event_kind::resume_begin, 1);
      at(0, 3600).send(0, 50);
      at(0, 3700).send(0, 60);
      at(0, 9500).end();
      at(0, 9600).add(event_kind::wave);
    }
    out.tell_clock({start + 10'000, 10'000'000, 0, 0}, 1);
    out.finish();
  }
  static std::string text_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  /// With single spaces.
  static std::string plain(const std::string& text) {
    std::istringstream words(text);
    std::string all;
    for (std::string each; words >> each;) all += (all.empty() ? "" : " ") + each;
    return all;
  }
  static std::string bytes_of(std::string_view text) {
    static constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    std::uint32_t held = 0;
    int bits = 0;
    for (const char each : text) {
      const std::size_t value = letters.find(each);
      if (value == std::string_view::npos) break;
      held = held << 6 | static_cast<std::uint32_t>(value);
      bits += 6;
      if (bits >= 8) out += static_cast<char>(held >> (bits -= 8) & 0xff);
    }
    return out;
  }
  [[nodiscard]] nlohmann::json page(const page_bounds& bounds = {}) const {
    return nlohmann::json::parse(page_data(*log_, take_survey(*log_), bounds));
  }
  /// Of each row the spans: begin, length, code.
  static std::vector<std::vector<std::array<std::uint64_t, 3>>> spans_of(const nlohmann::json& page) {
    const std::string bytes = bytes_of(page["spans"]["bytes"].get<std::string>());
    std::vector<std::vector<std::array<std::uint64_t, 3>>> all;
    std::size_t at = 0;
    const auto number = [&] {
      std::uint64_t value = 0;
      for (int shift = 0;; shift += 7) {
        const auto byte = static_cast<unsigned char>(bytes.at(at++));
        value |= std::uint64_t{byte & 0x7fU} << shift;
        if (byte < 0x80) return value;
      }
    };
    for (const auto& end : page["spans"]["ends"]) {
      auto& row = all.emplace_back();
      for (std::uint64_t last = 0; at < end.get<std::size_t>();) {
        const std::uint64_t begin = last + number(), length = number(), code = number();
        row.push_back({begin, length, code});
        last = begin + length;
      }
    }
    return all;
  }

  std::string path_;
  std::optional<trace::trace_log> log_;
};

TEST_F(known, as_text) {
  EXPECT_EQ(plain(text_report(*log_)),
            "known: 0.010000 s on 2 ranks (inproc, balancer none) "
            "rank lane work s main s runtime s idle s handlers steals "
            "0 0 0.002000 0.000000 0.001500 0.002000 2 0 "
            "0 1 0.003900 0.000000 0.000100 0.002000 1 2 "
            "0 main 0.000000 0.000900 0.000000 0.000000 0 0 "
            "1 0 0.006000 0.000000 0.001000 0.002500 1 0 "
            "1 1 0.000000 0.000000 0.000000 0.000000 0 0 "
            "runs seconds longest s handler "
            "1 0.008000 0.006000 one "
            "1 0.003900 0.003900 two "
            "2 0.000700 0.000500 three (runtime) "
            "3 messages of 310 bytes sent, 1 objects created, 1 migrations, 1 waves");
}

TEST_F(known, as_text_goes_to_the_file_that_is_named) {
  EXPECT_EQ(write_report(path_, "text", path_ + ".row"), 0);
  EXPECT_EQ(text_of(path_ + ".row"), text_report(*log_));
  EXPECT_THROW(write_report(path_, "text", "/no/such/folder/file"), setup_error);
  EXPECT_THROW(write_report(path_, "text", "/dev/full"), setup_error);
}

TEST_F(known, for_perfetto) {
  write_perfetto(*log_, path_ + ".json");
  const auto read = nlohmann::json::parse(text_of(path_ + ".json"));
  std::string slices, arrows, instants, names;
  for (const auto& each : read["traceEvents"]) {
    const auto lane = [&] { return each["pid"].dump() + "." + each["tid"].dump() + " "; };
    const std::string phase = each["ph"], name = each["name"];
    if (phase == "X")
      slices +=
          lane() + name + "/" + std::string(each["cat"]) + " " + each["ts"].dump() + "+" + each["dur"].dump() + "\n";
    if (phase == "s" || phase == "f")
      arrows += phase + each["id"].dump() + " " + lane() + name + " " + each["ts"].dump() + "\n";
    if (phase == "i") instants += lane() + name + " " + each["ts"].dump() + "\n";
    if (name == "process_name") names += each["pid"].dump() + " " + std::string(each["args"]["name"]) + "\n";
    if (name == "thread_name") names += lane() + std::string(each["args"]["name"]) + "\n";
  }
  EXPECT_EQ(slices,
            "0.0 idle/idle 0.0+1000.0\n0.0 one/work 1000.0+2000.0\n0.0 runtime/runtime 3000.0+1000.0\n"
            "0.0 idle/idle 4000.0+1000.0\n0.0 three/runtime 5000.0+500.0\n"
            "0.1 idle/idle 0.0+2000.0\n0.1 runtime/runtime 2000.0+100.0\n0.1 two/work 2100.0+3900.0\n"
            "0.2 main/main 0.0+900.0\n"
            "1.0 idle/idle 0.0+2500.0\n1.0 three/runtime 2500.0+200.0\n1.0 runtime/runtime 2700.0+800.0\n"
            "1.0 one/work 3500.0+6000.0\n");
  EXPECT_EQ(arrows,
            "s1 0.0 migration 1500.0\nf1 1.0 migration 2600.0\n"
            "s2 0.0 steal 2000.0\nf2 0.1 steal 2000.0\n");
  EXPECT_EQ(instants, "0.1 create 2200.0\n");
  EXPECT_EQ(names,
            "0 rank 0\n0.0 worker 0\n0 rank 0\n0.1 worker 1\n0 rank 0\n0.2 main\n1 rank 1\n1.0 worker 0\n1 rank 1\n"
            "1.1 worker 1\n");
}

TEST_F(known, for_paraver) {
  write_paraver(*log_, path_);
  EXPECT_EQ(text_of(path_ + ".prv"),
            "#Paraver (01/01/00 at 00:00):10000000_ns:1(5):1:2(3:1,2:1)\n"
            "1:1:1:1:1:0:1000000:0\n1:2:1:1:2:0:2000000:0\n1:3:1:1:3:0:900000:2\n1:4:1:2:1:0:2500000:0\n"
            "1:1:1:1:1:1000000:3000000:1\n2:1:1:1:1:1000000:90000001:1\n"
            "3:1:1:1:1:1500000:1500000:4:1:2:1:2600000:2600000:1:7\n"
            "1:2:1:1:2:2000000:2100000:3\n2:2:1:1:2:2000000:90000002:2\n"
            "1:2:1:1:2:2100000:6000000:1\n2:2:1:1:2:2100000:90000001:2\n"
            "2:2:1:1:2:2200000:90000003:1\n"
            "1:4:1:2:1:2500000:2700000:3\n1:4:1:2:1:2700000:3500000:3\n"
            "1:1:1:1:1:3000000:4000000:3\n2:1:1:1:1:3000000:90000001:0\n"
            "1:4:1:2:1:3500000:9500000:1\n2:4:1:2:1:3500000:90000001:1\n"
            "1:1:1:1:1:4000000:5000000:0\n1:1:1:1:1:5000000:5500000:3\n"
            "2:2:1:1:2:6000000:90000001:0\n2:4:1:2:1:9500000:90000001:0\n");
  const std::string names = plain(text_of(path_ + ".pcf"));
  EXPECT_NE(names.find("UNITS NANOSEC"), std::string::npos);
  EXPECT_NE(names.find("STATES 0 idle 1 work 2 main 3 runtime"), std::string::npos);
  EXPECT_NE(names.find("6 90000001 handler VALUES 0 none 1 one 2 two 3 three"), std::string::npos);
  EXPECT_EQ(plain(text_of(path_ + ".row")),
            "LEVEL CPU SIZE 5 rank 0 worker 0 rank 0 worker 1 rank 0 main rank 1 worker 0 rank 1 worker 1 "
            "LEVEL NODE SIZE 1 known "
            "LEVEL THREAD SIZE 5 rank 0 worker 0 rank 0 worker 1 rank 0 main rank 1 worker 0 rank 1 worker 1");
}

TEST_F(known, for_a_page) {
  const auto data = page();
  EXPECT_EQ(data["end_ns"], 10'000'000);
  EXPECT_EQ(data["rows"],
            nlohmann::json::parse("[[0,0,0,0,1,2000000,0,1500000,2000000,2,0],[0,1,0,0,1,3900000,0,100000,2000000,1,2],"
                                  "[0,2,1,0,1,0,900000,0,0,0,0],[1,0,0,1,1,6000000,0,1000000,2500000,1,0],"
                                  "[1,1,0,1,1,0,0,0,0,0,0]]"));
  EXPECT_EQ(data["handlers"],
            nlohmann::json::parse(R"([["one",1,8000000,6000000,false],["two",1,3900000,3900000,false],)"
                                  R"(["three",2,700000,500000,true]])"));
  EXPECT_EQ(data["messages"],
            nlohmann::json::parse(R"({"sides":2,"group":1,"count":[0,1,2,0],"bytes":[0,200,110,0]})"));
  EXPECT_EQ(data["migrations"], nlohmann::json::parse(R"({"count":1,"list":[1500000,1100000,0,3]})"));
  EXPECT_EQ(data["steals"], nlohmann::json::parse(R"({"count":1,"list":[2000000,0,0,1]})"));
  EXPECT_EQ(std::make_tuple(data["created"], data["departures"], data["waves"]), std::make_tuple(1, 1, 1));
  enum : std::uint64_t { idle, runtime, main, one, two, three };
  const std::vector<std::vector<std::array<std::uint64_t, 3>>> spans{
      {{0, 1'000'000, idle},
       {1'000'000, 2'000'000, one},
       {3'000'000, 1'000'000, runtime},
       {4'000'000, 1'000'000, idle},
       {5'000'000, 500'000, three}},
      {{0, 2'000'000, idle}, {2'000'000, 100'000, runtime}, {2'100'000, 3'900'000, two}},
      {{0, 900'000, main}},
      {{0, 2'500'000, idle}, {2'500'000, 200'000, three}, {2'700'000, 800'000, runtime}, {3'500'000, 6'000'000, one}},
      {}};
  EXPECT_EQ(spans_of(data), spans);
}

TEST_F(known, for_a_page_has_cells_that_say_what_was_done_when) {
  const auto data = page();
  const std::string cells = bytes_of(data["bins"]["cells"].get<std::string>());
  const auto bins = data["bins"]["count"].get<std::size_t>();
  ASSERT_EQ(cells.size(), 4 * 5 * bins);
  const auto cell = [&](std::size_t row, std::size_t us) {
    const std::size_t at = 4 * (row * bins + us * bins / 10'000);
    std::array<int, 4> four{};
    for (std::size_t index = 0; index < 4; ++index) four[index] = static_cast<unsigned char>(cells[at + index]);
    return four;
  };
  using four = std::array<int, 4>;
  EXPECT_EQ(cell(0, 500), (four{0, 0, 255, 0}));
  EXPECT_EQ(cell(0, 2000), (four{255, 0, 0, 1}));
  EXPECT_EQ(cell(0, 3500), (four{0, 255, 0, 0}));
  EXPECT_EQ(cell(0, 7000), (four{0, 0, 0, 0})) << "it has come to rest";
  EXPECT_EQ(cell(1, 4000), (four{255, 0, 0, 2}));
  EXPECT_EQ(cell(2, 400), (four{255, 0, 0, 255})) << "the main";
  EXPECT_EQ(cell(3, 6000), (four{255, 0, 0, 1}));
}

TEST_F(known, for_a_small_page_keeps_the_longest) {
  page_bounds small;
  small.spans = 2;
  const auto spans = spans_of(page(small));
  ASSERT_EQ(spans.size(), 5U);
  using list = std::vector<std::array<std::uint64_t, 3>>;
  EXPECT_EQ(spans[1], (list{{2'100'000, 3'900'000, 4}}));
  EXPECT_EQ(spans[3], (list{{3'500'000, 6'000'000, 3}}));
  EXPECT_TRUE(spans[0].empty() && spans[2].empty() && spans[4].empty());
  page_bounds rows;
  rows.rows = 2;
  rows.matrix_sides = 1;
  const auto two = page(rows);
  EXPECT_EQ(two["rows"], nlohmann::json::parse("[[0,0,0,0,3,5900000,900000,1600000,4000000,3,2],"
                                               "[1,0,0,1,2,6000000,0,1000000,2500000,1,0]]"));
  EXPECT_EQ(two["messages"], nlohmann::json::parse(R"({"sides":1,"group":2,"count":[3],"bytes":[310]})"));
  EXPECT_EQ(two["migrations"]["list"], nlohmann::json::parse("[1500000,1100000,0,1]"));
  EXPECT_EQ(two["spans"]["ends"].size(), 0U) << "rows of several lanes have none";
}

TEST_F(known, as_a_page_is_not_ended_by_a_name_in_it) {
  {
    trace::file_writer file(path_);
    trace::job_description job;
    job.program = "a</script>b";
    tell_job(file, job);
  }
  write_html(trace::trace_log(path_), path_ + ".json");
  const std::string page = text_of(path_ + ".json");
  EXPECT_EQ(page.find("a</script>b"), std::string::npos);
  EXPECT_NE(page.find("a<\\/script>b"), std::string::npos);
}

TEST_F(known, where_there_is_no_room_is_refused) {
  try {
    write_perfetto(*log_, "/dev/full");
    ADD_FAILURE() << "it says nothing";
  } catch (const setup_error& error) {
    EXPECT_NE(std::string(error.what()).find("cannot write '/dev/full': No space left on device"), std::string::npos)
        << error.what();
  }
}

#if defined(NACRE_WITH_OTF2)
TEST_F(known, for_vampir) {
  if (std::system("command -v otf2-print >/dev/null") != 0) GTEST_SKIP() << "there is no otf2-print (otf2-tools)";
  write_otf2(*log_, path_ + ".otf2");
  ASSERT_EQ(std::system(("otf2-print " + path_ + ".otf2/traces.otf2 >" + path_ + ".json").c_str()), 0);
  const std::string definitions = path_ + ".prv";
  ASSERT_EQ(std::system(("otf2-print -G " + path_ + ".otf2/traces.otf2 >" + definitions).c_str()), 0);
  EXPECT_NE(text_of(definitions).find("Ticks per Seconds: 1000000000, Global Offset: 0, Length: 10000001,"),
            std::string::npos);
  std::istringstream lines(text_of(path_ + ".json"));
  std::string events;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string kind, location, time, label, what;
    words >> kind >> location >> time >> label >> what;
    std::erase(what, '"');
    if (kind == "ENTER" || kind == "LEAVE")
      events += location + " " + time + " " + kind.substr(0, 1) + " " + what + "\n";
    if (kind == "MPI_SEND" || kind == "MPI_RECV") events += location + " " + time + " " + kind + " " + what + "\n";
  }
  EXPECT_EQ(events,
            "0 0 E idle\n"
            "1 0 E idle\n"
            "2 0 E main\n"
            "3 0 E idle\n"
            "2 900000 L main\n"
            "0 1000000 L idle\n"
            "0 1000000 E one\n"
            "0 1500000 MPI_SEND 3\n"
            "1 2000000 L idle\n"
            "1 2000000 E runtime\n"
            "1 2100000 L runtime\n"
            "1 2100000 E two\n"
            "3 2500000 L idle\n"
            "3 2500000 E three\n"
            "3 2600000 MPI_RECV 0\n"
            "3 2700000 L three\n"
            "3 2700000 E runtime\n"
            "0 3000000 L one\n"
            "0 3000000 E runtime\n"
            "3 3500000 L runtime\n"
            "3 3500000 E one\n"
            "0 4000000 L runtime\n"
            "0 4000000 E idle\n"
            "0 5000000 L idle\n"
            "0 5000000 E three\n"
            "0 5500000 L three\n"
            "1 6000000 L two\n"
            "3 9500000 L one\n");
}
#endif

}  // namespace
}  // namespace nacre::tool
