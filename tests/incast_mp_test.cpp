// SPDX-License-Identifier: Apache-2.0
// The program `incast`: the simulated switch, the star of namespaces, and the end of a star that is killed.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "launched.hpp"

namespace nacre::tests {
namespace {

namespace fs = std::filesystem;

constexpr int cannot = 77;  // of tools/star

class incast : public testing::Test {
  void SetUp() override {
    if (!fs::exists(NACRE_BIN_DIR "/incast")) GTEST_SKIP() << "this build has no benchmarks (NACRE_BENCH)";
  }
};

outcome run_incast(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), NACRE_BIN_DIR "/incast");
  return launched(arguments).end();
}

nlohmann::json figures_of(const std::string& place, const std::string& policy, std::vector<std::string> more = {}) {
  const fs::path file = fs::path(testing::TempDir()) / ("incast_" + std::to_string(::getpid()) + ".json");
  fs::remove(file);
  std::vector<std::string> arguments{"--switch", place, "--policy", policy, "--runs", "1", "--json", file.string()};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const outcome done = run_incast(arguments);
  if (code_of(done) == cannot) return {};
  EXPECT_EQ(code_of(done), 0) << done.errors;
  std::ifstream in(file);
  const nlohmann::json figures = nlohmann::json::parse(in);
  fs::remove(file);
  return figures;
}

TEST_F(incast, senders_on_a_simulated_switch_collapse_and_the_token_keeps_them_from_it) {
  const std::vector<std::string> brief{"--seconds", "0.05"};
  EXPECT_LT(figures_of("sim", "none", brief).at("goodput_fraction").get<double>(), 0.3);
  for (const char* const policy : {"token", "slot", "auto"}) {
    const nlohmann::json got = figures_of("sim", policy, brief);
    EXPECT_GT(got.at("goodput_fraction").get<double>(), 0.95) << policy;
    EXPECT_EQ(got.at("drops").get<double>(), 0) << policy;
    EXPECT_GT(got.at("fairness").get<double>(), 0.98) << policy;
  }
}

double goodput_of(const std::string& policy, std::vector<std::string> more) {
  more.insert(more.end(), {"--seconds", "0.1"});
  return figures_of("sim", policy, std::move(more)).at("goodput_fraction").get<double>();
}

/// The paper's figure 2. A host's cost of a message keeps short ones from overloading the link.
TEST_F(incast, simulated_senders_collapse_from_the_size_on_that_the_paper_has) {
  EXPECT_GT(goodput_of("none", {"--senders", "2", "--bytes", "256"}), 0.85);
  EXPECT_LT(goodput_of("none", {"--senders", "2", "--bytes", "600"}), 0.1);
  EXPECT_GT(goodput_of("none", {"--senders", "3", "--bytes", "128"}), 0.8);
  EXPECT_LT(goodput_of("none", {"--senders", "3", "--bytes", "600"}), 0.02);
  EXPECT_LT(goodput_of("none", {"--senders", "2", "--bytes", "256", "--message-cost", "0"}), 0.1);
  // Cells of 36.8 us, and 21 us before them.
  EXPECT_NEAR(goodput_of("none", {"--senders", "1", "--bytes", "600"}), 36.8 / 57.8, 0.01);
}

TEST_F(incast, early_packet_discard_keeps_the_simulated_link_full_of_whole_messages) {
  const std::vector<std::string> load{"--senders", "3", "--bytes", "1KiB", "--discard"};
  std::vector<double> goodputs;
  for (const char* const discard : {"tail", "rest", "partial", "early"}) {
    std::vector<std::string> arguments = load;
    arguments.emplace_back(discard);
    goodputs.push_back(goodput_of("none", arguments));
  }
  EXPECT_LT(goodputs[0], 0.05);
  EXPECT_GT(goodputs[1], 2 * goodputs[0]);
  EXPECT_GT(goodputs[2], 2 * goodputs[1]);
  EXPECT_LT(goodputs[2], 0.3);
  EXPECT_GT(goodputs[3], 0.98);
}

/// The paper's figure 4. A token that is passed on at the end leaves the link idle for 18 us and a cell, after 62.3 us.
TEST_F(incast, a_token_that_is_passed_on_ten_cells_early_hides_its_way) {
  const std::vector<std::string> load{"--senders", "2", "--bytes", "1KiB", "--flow-buffer", "0", "--early"};
  std::vector<std::string> end = load, early = load;
  end.emplace_back("0");
  early.emplace_back("28.3");
  EXPECT_NEAR(goodput_of("token", end), 62.3 / 80.4, 0.01);
  EXPECT_GT(goodput_of("token", early), 0.99);
}

TEST_F(incast, simulated_senders_lose_nothing_by_auto) {
  for (const char* const senders : {"1", "2", "3"}) {
    for (const char* const bytes : {"64", "256", "520", "600", "1KiB", "10KiB"}) {
      const std::vector<std::string> load{"--senders", senders, "--bytes", bytes};
      EXPECT_GE(goodput_of("auto", load), 0.95 * goodput_of("none", load)) << senders << " senders of " << bytes;
    }
  }
}

TEST_F(incast, one_seed_is_one_simulation) {
  const std::vector<std::string> brief{"--seconds", "0.02", "--seed", "7"};
  EXPECT_EQ(figures_of("sim", "token", brief), figures_of("sim", "token", brief));
}

/// How well the links do depends on what else this machine does, so only what is certain is asked for.
TEST_F(incast, senders_in_a_star_of_namespaces_do_better_with_a_token) {
  const std::vector<std::string> brief{"--seconds", "0.3"};
  const nlohmann::json alone = figures_of("star", "none", brief);
  if (alone.is_null()) GTEST_SKIP() << "tools/star says what is missing";
  const nlohmann::json token = figures_of("star", "token", brief);
  if (alone.at("drops").get<double>() == 0) GTEST_SKIP() << "this machine was too busy to fill the queue of a port";
  EXPECT_GT(token.at("goodput_fraction").get<double>(), 0);
  EXPECT_LT(token.at("drops").get<double>(), alone.at("drops").get<double>() / 4);
  EXPECT_GT(token.at("fairness").get<double>(), 0.4) << "of three senders, two at least";
}

TEST(star, ends_with_its_process_even_if_that_is_killed) {
  const fs::path alive = fs::path(testing::TempDir()) / "star_is_alive";
  fs::remove(alive);
  // The command writes on as long as it lives; then the star is killed as hard as can be.
  const outcome done = launched({"sh", "-c",
                                 NACRE_SOURCE_DIR "/tools/star --hosts 2 sh -c 'while :; do date +%s%N > \"$1\"; sleep "
                                                  "0.02; done' sh \"$1\" & star=$!; "
                                                  "while kill -0 $star 2>/dev/null && ! [ -s \"$1\" ]; do sleep 0.02; "
                                                  "done; [ -s \"$1\" ] || { wait $star; exit $?; }; "
                                                  "kill -9 $star; wait $star; sleep 0.1; rm \"$1\"; sleep 0.2; ! [ -e "
                                                  "\"$1\" ]",
                                 "sh", alive.string()})
                           .end();
  if (code_of(done) == cannot) GTEST_SKIP() << done.errors;
  EXPECT_EQ(code_of(done), 0) << "the command lives on: " << done.errors;
}

TEST(star, ends_with_what_lives_in_it_by_a_signal_and_says_so) {
  const fs::path alive = fs::path(testing::TempDir()) / "star_lives_on";
  for (const auto& [signal, code] : {std::pair{"TERM", 143}, {"HUP", 129}}) {
    fs::remove(alive);
    const outcome done =
        launched({"sh", "-c",
                  NACRE_SOURCE_DIR "/tools/star --hosts 2 sh -c 'while :; do date +%s%N > \"$1\"; sleep 0.02; done' sh "
                                   "\"$1\" & star=$!; while kill -0 $star 2>/dev/null && ! [ -s \"$1\" ]; do sleep "
                                   "0.02; done; [ -s \"$1\" ] || { wait $star; exit $?; }; kill -$2 $star; wait "
                                   "$star; code=$?; sleep 0.1; rm \"$1\"; sleep 0.2; ! [ -e \"$1\" ] && exit $code",
                  "sh", alive.string(), signal})
            .end();
    if (code_of(done) == cannot) GTEST_SKIP() << done.errors;
    EXPECT_EQ(code_of(done), code) << signal << done.errors;
  }
}

TEST_F(incast, a_star_run_that_is_told_to_end_ends_with_128_and_the_signal) {
  const outcome done = launched({"sh", "-c",
                                 "\"$1\" --switch star --seconds 60 & run=$!; sleep 1; kill -0 $run 2>/dev/null && "
                                 "kill -TERM $run; wait $run",
                                 "sh", NACRE_BIN_DIR "/incast"})
                           .end();
  if (code_of(done) == cannot) GTEST_SKIP() << done.errors;
  EXPECT_EQ(code_of(done), 143) << done.errors;
}

TEST(star, arguments_that_make_no_sense_are_an_error_of_their_own) {
  const std::vector<std::vector<std::string>> wrong{{"--hosts", "0"},
                                                    {"--hosts", "2.5"},
                                                    {"--hosts", "99999999999999999999"},
                                                    {"--rate", "0"},
                                                    {"--rate", "1.2.3"},
                                                    {"--rate", "0.001"},
                                                    {"--rate", "1e3"},
                                                    {"--rate", "."},
                                                    {"--buffer", "10"},
                                                    {"--buffer", "1e9"},
                                                    {"--mtu", "5"},
                                                    {"--mtu", "0x10"},
                                                    {"--burst", "7"},
                                                    {"--burst", "1.5"},
                                                    {"--nonsense", "3"},
                                                    {"--hosts"},
                                                    {"--rate", ""},
                                                    {"--buffer", "-100"},
                                                    {"--rate", "0.01", "--burst", "900000000"}};
  for (std::vector<std::string> arguments : wrong) {
    arguments.insert(arguments.begin(), NACRE_SOURCE_DIR "/tools/star");
    arguments.emplace_back("true");
    const outcome done = launched(arguments).end();
    EXPECT_EQ(code_of(done), 2) << arguments[1] << ' ' << arguments[2] << ": " << done.errors;
    EXPECT_EQ(lines_of(done.errors).size(), 1U) << done.errors;
  }
}

TEST_F(incast, figures_are_printed_drawn_and_written) {
  const fs::path folder = testing::TempDir();
  const fs::path json = folder / "incast_figures.json", svg = folder / "incast_figures.svg";
  fs::remove(json);
  fs::remove(svg);
  const outcome done =
      run_incast({"--figures", "--seconds", "0.01", "--runs", "1", "--json", json.string(), "--svg", svg.string()});
  ASSERT_EQ(code_of(done), 0) << done.errors;
  EXPECT_GT(fs::file_size(svg), 1000U);
  std::ifstream in(json);
  const nlohmann::json got = nlohmann::json::parse(in);
  ASSERT_EQ(got.at("figures").size(), 4U);
  for (const nlohmann::json& figure : got.at("figures")) {
    for (const nlohmann::json& curve : figure.at("curves")) {
      ASSERT_EQ(curve.at("points").size(), 12U);
      for (const nlohmann::json& point : curve.at("points")) {
        EXPECT_GE(point.at("goodput_fraction").at("median").get<double>(), 0);
        EXPECT_LE(point.at("goodput_fraction").at("median").get<double>(), 1.01);
      }
    }
  }
  const nlohmann::json& none = got.at("figures").at(0).at("curves").at(2).at("points").at(11);
  EXPECT_LT(none.at("goodput_fraction").at("median").get<double>(), 0.3) << "three senders of 10 KiB collapse";
}

TEST_F(incast, what_makes_no_sense_is_refused_with_a_line) {
  for (const char* const rate : {"0", "0.001", "-1", "nan", "inf", "fast", "1e9"}) {
    EXPECT_EQ(code_of(run_incast({"--rate", rate})), 2) << rate;
  }
  EXPECT_EQ(code_of(run_incast({"--switch", "star", "--senders", "65"})), 2);
  EXPECT_EQ(code_of(run_incast({"--seconds", "0.01", "--json", "/nowhere/x.json"})), 2);

  EXPECT_EQ(code_of(run_incast({"--discard", "late"})), 2);
  EXPECT_EQ(code_of(run_incast({"--message-cost", "-1"})), 2);
  EXPECT_EQ(code_of(run_incast({"--policy", "tcp"})), 2);
  EXPECT_EQ(code_of(run_incast({"--busy-receiver"})), 2);
  EXPECT_EQ(code_of(run_incast({"--svg", "x.svg"})), 2);
  EXPECT_EQ(code_of(run_incast({"--senders", "0"})), 2);
  EXPECT_EQ(code_of(launched({NACRE_SOURCE_DIR "/tools/star", "--rate", "fast", "true"}).end()), 2);
}

}  // namespace
}  // namespace nacre::tests
