// SPDX-License-Identifier: Apache-2.0
// The program emulate over processes: the published times over shm and tcp while blocks move, and what it refuses.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "launched.hpp"

namespace nacre::tests {
namespace {

outcome run_emulate(const std::vector<std::string>& start, const std::vector<std::string>& options) {
  std::vector<std::string> command{"timeout", "-k", "5", "540"};
  command.insert(command.end(), start.begin(), start.end());
  command.insert(command.end(), {NACRE_BIN_DIR "/emulate", "--quiet"});
  command.insert(command.end(), options.begin(), options.end());
  return launched(command).end();
}

TEST(emulate_program, tells_the_published_times_on_every_transport_while_blocks_rotate) {
  const std::string machine = NACRE_SOURCE_DIR "/machines/petaflops.toml";
  for (const char* transport : {"shm", "tcp"}) {
    for (const char* ranks : {"2", "4"}) {
      if (sanitized && (*transport == 's') != (*ranks == '2')) continue;
      for (const auto& [program, time] :
           {std::pair("line", 110.08), std::pair("octree", 8.885), std::pair("reduce", 110.08)}) {
        const outcome got = run_emulate({NACRE_BIN_DIR "/nacre", "run", "-n", ranks, "--transport", transport},
                                        {"--program", program, "--machine", machine, "--json", "-", "--moves", "always",
                                         "--nacre.balancer=rotate"});
        ASSERT_EQ(code_of(got), 0) << got.output << got.errors;
        const auto json = nlohmann::json::parse(got.output);
        EXPECT_EQ(json["predicted_us"].get<double>(), time) << program << " over " << transport << " on " << ranks;
        EXPECT_EQ(json["messages"].get<int>(), 34 * 34 * 36 - 1);
        EXPECT_LE(json["bytes_per_thread"].get<double>(), 16);
        for (const char* key : {"seconds", "messages_per_s", "slowdown", "efficiency"}) {
          EXPECT_GT(json[key].get<double>(), 0) << key;
        }
      }
    }
  }
}

TEST(emulate_program, goes_around_missing_nodes_and_compares_a_variant) {
  for (const char* program : {"line", "octree", "reduce", "ring", "jacobi"}) {
    const outcome got = run_emulate({}, {"--program", program, "--grid", "12x11x10", "--rounds", "2", "--missing", "2%",
                                         "--against", "missing=2%@2 hop=1ns", "--json", "-"});
    ASSERT_EQ(code_of(got), 0) << program << got.output << got.errors;
    const auto json = nlohmann::json::parse(got.output);
    for (const auto& each : json["machines"]) {
      EXPECT_EQ(each["missing"].get<int>(), 26);
      EXPECT_TRUE(each["error"].is_null()) << each["error"];
    }
    const auto time = [&](int machine) { return json["machines"][machine]["predicted_us"].get<double>(); };
    const double ratio = time(1) / time(0);
    EXPECT_DOUBLE_EQ(json["predicted_ratio"].get<double>(), ratio);
    EXPECT_LT(ratio, 1.2);
  }
}

TEST(emulate_program, tells_which_share_of_the_threads_time_is_busy) {
  const std::string variant = "program=ring grid=10x10x10";
  const outcome got = run_emulate({}, {"--program", "line", "--against", variant, "--json", "-"});
  ASSERT_EQ(code_of(got), 0) << got.output << got.errors;
  const auto json = nlohmann::json::parse(got.output);
  // One handler of 1 us for each node of 200 threads. In the ring each thread has eleven; of the ten packets between
  // them one goes from the last node to the first, where that takes longest.
  EXPECT_NEAR(json["machines"][0]["busy_share"].get<double>(), 1 / (110.08 * 200), 1e-12);
  EXPECT_NEAR(json["machines"][1]["busy_share"].get<double>(), 11 / (11 + 9 * 0.08 + 27 * 0.005 + 0.075), 1e-9);
}

TEST(emulate_program, refuses_what_it_does_not_know) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong{
      {{"--program", "lines"}, "line, octree, reduce, ring"},
      {{"--program", "line", "--hop", "5"}, "a time such as 5ns"},
      {{"--program", "line", "--grid", "3x"}, "a grid such as"},
      {{"--program", "line", "--thread", "3"}, "--thread"},
      {{"--program", "line", "--machine", "there/is/none.toml"}, "there/is/none.toml"},
      {{"--program", "line", "--hop", "0ns", "--turn", "0ns", "--handler", "0ns"}, "takes no time"},
      {{}, "--program"}};
  for (const auto& [options, words] : wrong) {
    const outcome got = run_emulate({}, options);
    EXPECT_EQ(code_of(got), 2) << words << got.output << got.errors;
    EXPECT_NE(got.errors.find(words), std::string::npos) << got.errors;
  }
  const outcome help = run_emulate({}, {"--help"});
  EXPECT_EQ(code_of(help), 0);
  for (const char* word : {"--program", "--machine", "--grid", "--json", "jacobi"}) {
    EXPECT_NE(help.output.find(word), std::string::npos) << help.output;
  }
}

}  // namespace
}  // namespace nacre::tests
