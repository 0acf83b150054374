// SPDX-License-Identifier: Apache-2.0
// The program netsort sorts over every transport, whoever creates the wires and whether they stay or wander.
#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "launched.hpp"
#include "transports.hpp"

namespace nacre::tests {
namespace {

/// How ranks are started: by a launcher, or all in one process.
struct way {
  const char* transport;
  int ranks;
  friend void PrintTo(const way& way, std::ostream* out) { *out << way.transport << "_" << way.ranks << "_ranks"; }
};

bool in_one_process(const std::string& transport) { return transport == "inproc" || transport == "sim"; }

class netsort_program : public testing::TestWithParam<way> {
 protected:
  void SetUp() override {
    const auto& [transport, ranks] = GetParam();
    if (in_one_process(transport)) return;
    const bench::launcher start = start_of(transport, ranks);
    if (!start.missing.empty()) GTEST_SKIP() << start.missing;
    ignore_foreign_leaks(transport);
    words_ = start.words;
  }

  /// The report of a run with these options; null when it fails.
  nlohmann::json sort(std::vector<std::string> options) {
    const auto& [transport, ranks] = GetParam();
    std::vector<std::string> command{"timeout", "-k", "5", "540"};
    command.insert(command.end(), words_.begin(), words_.end());
    command.insert(command.end(), {NACRE_BIN_DIR "/netsort", "--json", "--nacre.workers=2"});
    if (in_one_process(transport)) {
      command.push_back(std::string("--nacre.transport=") + transport);
      command.push_back("--nacre.ranks=" + std::to_string(ranks));
    }
    command.insert(command.end(), options.begin(), options.end());
    const outcome got = launched(command).end();
    EXPECT_EQ(code_of(got), 0) << got.output << got.errors;
    return nlohmann::json::parse(got.output, nullptr, false);
  }

  std::vector<std::string> words_;
};

constexpr std::uint64_t wires = 64;
constexpr std::uint64_t steps = 6 * 7 / 2;
const std::string values = "--values=" + std::to_string(wires);

TEST_P(netsort_program, sorts_wires_that_each_rank_creates) {
  const nlohmann::json got = sort({values, "--placement=distributed", "--keys=100", "--repetitions=2"});
  ASSERT_EQ(got.at("sorted"), true);
  EXPECT_EQ(got["placement"], "distributed");
  for (const auto& round : got["rounds"]) {
    EXPECT_EQ(round["messages"], wires * (1 + steps));
    EXPECT_EQ(round["forwards"], 0) << "every wire is where it was created";
    EXPECT_EQ(round["migrations"], 0);
    EXPECT_GT(round["hops"], 0);
  }
}

TEST_P(netsort_program, sorts_wires_that_rank_0_creates_and_finds_their_places_in_the_first_round) {
  const nlohmann::json got =
      sort({values, "--placement=central", "--location=jump_update", "--keys=3", "--repetitions=2"});
  ASSERT_EQ(got.at("sorted"), true);
  const auto ranks = static_cast<std::uint64_t>(GetParam().ranks);
  EXPECT_EQ(got["placing"]["migrations"], wires - wires / ranks);
  EXPECT_GT(got["rounds"][0]["forwards"], 0) << "other ranks know no more than who created the wires";
  EXPECT_GT(got["rounds"][0]["location_updates"], 0);
  EXPECT_EQ(got["rounds"][1]["forwards"], 0) << "by now every rank knows";
  EXPECT_EQ(got["rounds"][1]["location_updates"], 0);
}

TEST_P(netsort_program, sorts_wires_that_move_on_while_they_are_compared) {
  const nlohmann::json got = sort({values, "--placement=central", "--wander=2", "--repetitions=2"});
  ASSERT_EQ(got.at("sorted"), true);
  for (const auto& round : got["rounds"]) {
    EXPECT_GT(round["migrations"],
              wires);  // fewer than wishes: one that comes again before the first has moved is none
    EXPECT_LE(round["migrations"], wires * (steps / 2));
    EXPECT_GT(round["forwards"], 0);
  }
}

std::vector<way> ways() {
  return {{"inproc", 4}, {"sim", 4}, {"sim", 16},    {"shm", 4},  {"tcp", 4},
          {"auto", 4},   {"ucx", 4}, {"openmpi", 4}, {"mpich", 4}};
}

INSTANTIATE_TEST_SUITE_P(over, netsort_program, testing::ValuesIn(ways()), testing::PrintToStringParamName());

TEST(netsort_command_line, refuses_what_makes_no_network_and_names_the_right_options) {
  for (const char* wrong : {"--values=100", "--values=0", "--placement=somewhere", "--keys=0", "--sort"}) {
    const outcome got = launched({NACRE_BIN_DIR "/netsort", wrong}).end();
    EXPECT_EQ(code_of(got), 2) << wrong;
    EXPECT_NE(got.errors.find("--help"), std::string::npos) << got.errors;
  }
  EXPECT_EQ(code_of(launched({NACRE_BIN_DIR "/netsort", "--location=nowhere"}).end()), 2);
  const outcome help = launched({NACRE_BIN_DIR "/netsort", "--help"}).end();
  EXPECT_EQ(code_of(help), 0);
  EXPECT_NE(help.output.find("--placement"), std::string::npos);
}

}  // namespace
}  // namespace nacre::tests
