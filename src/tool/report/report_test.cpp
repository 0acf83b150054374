// SPDX-License-Identifier: Apache-2.0
// Reports of a trace with known events, in every format but the page, compared number by number.
#include "tool/report/report.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include <nacre/error.hpp>

#include "tool/report/report_test_kit.hpp"

namespace nacre::tool {
namespace {

TEST_F(known, as_text) {
  EXPECT_EQ(plain(text_report(*log_)),
            "known: 0.010000 s on 2 ranks (inproc, balancer none) "
            "rank thread work s main s runtime s idle s handlers steals "
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
  EXPECT_EQ(write_report({path_, "text", path_ + ".row", {}}), 0);
  EXPECT_EQ(text_of(path_ + ".row"), text_report(*log_));
  EXPECT_THROW(write_report({path_, "text", "/no/such/folder/file", {}}), setup_error);
  EXPECT_THROW(write_report({path_, "text", "/dev/full", {}}), setup_error);
}

TEST_F(known, for_perfetto) {
  write_perfetto(*log_, path_ + ".json");
  const auto read = nlohmann::json::parse(text_of(path_ + ".json"));
  std::string slices, arrows, instants, names;
  for (const auto& each : read["traceEvents"]) {
    const auto thread = [&] { return each["pid"].dump() + "." + each["tid"].dump() + " "; };
    const std::string phase = each["ph"], name = each["name"];
    if (phase == "X")
      slices +=
          thread() + name + "/" + std::string(each["cat"]) + " " + each["ts"].dump() + "+" + each["dur"].dump() + "\n";
    if (phase == "s" || phase == "f")
      arrows += phase + each["id"].dump() + " " + thread() + name + " " + each["ts"].dump() + "\n";
    if (phase == "i") instants += thread() + name + " " + each["ts"].dump() + "\n";
    if (name == "process_name") names += each["pid"].dump() + " " + std::string(each["args"]["name"]) + "\n";
    if (name == "thread_name") names += thread() + std::string(each["args"]["name"]) + "\n";
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
    std::string kind, location, time, label, name;
    words >> kind >> location >> time >> label >> name;
    std::erase(name, '"');
    if (kind == "ENTER" || kind == "LEAVE")
      events += location + " " + time + " " + kind.substr(0, 1) + " " + name + "\n";
    if (kind == "MPI_SEND" || kind == "MPI_RECV") events += location + " " + time + " " + kind + " " + name + "\n";
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
