// SPDX-License-Identifier: Apache-2.0
// Command lines and the trees they mean.
#include "options.hpp"

#include <gtest/gtest.h>

#include <nacre/error.hpp>
#include <string>
#include <utility>
#include <vector>

#include "presets.hpp"

namespace uts {
namespace {

command_line parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "uts");
  return parse_command_line(static_cast<int>(arguments.size()), arguments.data());
}

/// The message on standard error of a command line that is refused with exit code 2.
std::string complaint(std::vector<const char*> arguments) {
  testing::internal::CaptureStderr();
  const command_line command = parse(std::move(arguments));
  const std::string message = testing::internal::GetCapturedStderr();
  EXPECT_EQ(command.exit_code, 2);
  return message;
}

/// The text of the setup_error that a command line throws.
std::string refusal(std::vector<const char*> arguments) {
  try {
    (void)parse(std::move(arguments));
    return "accepted";
  } catch (const nacre::setup_error& error) {
    return error.what();
  }
}

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

TEST(options, an_empty_command_line_means_the_default_tree) {
  const command_line command = parse({});
  EXPECT_FALSE(command.exit_code.has_value());
  EXPECT_EQ(command.asked.tree, tree_params{});
  EXPECT_EQ(command.asked.sha, sha1_choice::automatic);
  EXPECT_FALSE(command.asked.sequential || command.asked.json || command.asked.quiet || command.asked.list);
}

TEST(options, a_name_means_its_preset) { EXPECT_EQ(parse({"--tree", "t3l"}).asked.tree, find_preset("T3L").params); }

TEST(options, parameters_replace_those_of_the_named_tree) {
  tree_params expected = find_preset("T3").params;
  expected.seed = 43;
  expected.q = 0.1;
  EXPECT_EQ(parse({"--seed=43", "--tree=T3", "--q=0.1"}).asked.tree, expected);
}

TEST(options, every_parameter_reaches_the_tree) {
  const tree_params expected{.type = tree_type::hybrid,
                             .shape = tree_shape::cyclic,
                             .branching = 2.5,
                             .depth = 9,
                             .seed = 4294967295u,
                             .q = 0.125,
                             .m = 7,
                             .f = 0.75,
                             .granularity = 2};
  EXPECT_EQ(parse({"--type", "hybrid", "--shape", "Cyclic", "--branching", "2.5", "--depth", "9", "--seed",
                   "4294967295", "--q", "0.125", "--m", "7", "--f", "0.75", "--granularity", "2"})
                .asked.tree,
            expected);
}

TEST(options, every_switch_is_read) {
  const options asked = parse({"--sequential", "--json", "--quiet", "--list", "--sha", "portable"}).asked;
  EXPECT_TRUE(asked.sequential && asked.json && asked.quiet && asked.list);
  EXPECT_EQ(asked.sha, sha1_choice::portable);
  EXPECT_EQ(parse({"--sha", "avx512"}).asked.sha, sha1_choice::avx512);
  EXPECT_EQ(parse({"--sha", "avx2"}).asked.sha, sha1_choice::avx2);
  EXPECT_EQ(parse({"--sha", "shani"}).asked.sha, sha1_choice::shani);
}

TEST(options, the_way_to_share_work_is_read) {
  const options usual = parse({}).asked;
  EXPECT_EQ(usual.mode, search_mode::objects);
  EXPECT_FALSE(usual.chunk || usual.interval) << "they adapt themselves";
  const options asked = parse({"--mode", "steal", "--chunk", "20", "--interval=8"}).asked;
  EXPECT_EQ(asked.mode, search_mode::steal);
  EXPECT_EQ(asked.chunk, 20u);
  EXPECT_EQ(asked.interval, 8u);
  EXPECT_EQ(asked.near, 0u);
  EXPECT_EQ(parse({"--mode", "steal", "--near", "2"}).asked.near, 2u);
  EXPECT_EQ(parse({"--mode", "share", "--chunk", "auto"}).asked.mode, search_mode::share);
  EXPECT_TRUE(contains(refusal({"--mode", "stael"}), "did you mean steal?"));
  EXPECT_TRUE(contains(refusal({"--chunk", "0"}), "try --chunk auto"));
  EXPECT_TRUE(contains(refusal({"--interval", "8x"}), "try --interval auto"));
}

TEST(options, ways_to_share_work_are_refused_where_nothing_reads_them) {
  EXPECT_TRUE(
      contains(refusal({"--sequential", "--mode", "steal", "--chunk", "3"}), "--sequential is given with --mode"));
  EXPECT_TRUE(contains(refusal({"--sequential", "--mode", "share"}), "--sequential is given with --mode"));
  EXPECT_TRUE(contains(refusal({"--chunk", "3"}), "without --mode steal or share"));
  EXPECT_TRUE(contains(refusal({"--interval", "3"}), "without --mode steal or share"));
  EXPECT_TRUE(contains(refusal({"--near", "3"}), "--near is given without --mode steal"));
  EXPECT_TRUE(contains(refusal({"--near", "3", "--mode", "share"}), "--near is given without --mode steal"));
}

TEST(options, help_goes_to_standard_output_and_ends_the_program_well) {
  testing::internal::CaptureStdout();
  const command_line command = parse({"--help"});
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_EQ(command.exit_code, 0);
  for (const char* part : {"--tree", "--granularity", "--sequential", "Examples:", "Exit code"}) {
    EXPECT_TRUE(contains(text, part)) << part;
  }
}

TEST(options, mistyped_names_are_answered_with_the_nearest) {
  EXPECT_TRUE(contains(complaint({"--tre", "T1"}), "no option '--tre': did you mean --tree?"));
  EXPECT_TRUE(contains(complaint({"T1", "--tre"}), "no option '--tre': did you mean --tree?"));
  EXPECT_TRUE(contains(complaint({"--brnaching=4"}), "did you mean --branching?"));
  EXPECT_TRUE(contains(complaint({"T1l"}), "did you mean --tree T1L?"));
  EXPECT_TRUE(contains(refusal({"--tree", "T7"}), "did you mean T"));
  EXPECT_TRUE(contains(refusal({"--type", "geo"}), "did you mean geometric?"));
  EXPECT_TRUE(contains(refusal({"--shape", "fixde"}), "did you mean fixed?"));
  EXPECT_TRUE(contains(refusal({"--sha", "avx51"}), "did you mean avx512?"));
}

TEST(options, a_value_of_the_wrong_kind_is_answered_with_the_right_one) {
  EXPECT_TRUE(contains(complaint({"--depth", "ten"}), "COUNT is a whole number"));
  EXPECT_TRUE(contains(complaint({"--seed", "-1"}), "COUNT is a whole number"));
  EXPECT_TRUE(contains(refusal({"--depth", "0"}), "try --depth between 1 and"));
}

TEST(options, the_cost_of_a_node_is_a_time_or_measured) {
  EXPECT_DOUBLE_EQ(parse_node_cost("12.5ns")->seconds, 12.5e-9);
  EXPECT_DOUBLE_EQ(parse_node_cost("2us")->seconds, 2e-6);
  EXPECT_DOUBLE_EQ(parse_node_cost("100s")->seconds, 100);
  EXPECT_TRUE(parse_node_cost("measured")->measured);
  for (const char* text : {"", "12", "ns", "-1ns", "12 ns", "1h", "measure", "1e300s", "nans", "101s"}) {
    EXPECT_FALSE(parse_node_cost(text)) << text;
  }
}

TEST(options, a_measured_node_costs_as_much_as_a_plain_loop_takes_for_it) {
  tree_params params = find_preset("T1").params;
  const sha1_kernel kernel = select_sha1(sha1_choice::automatic);
  const double once = measured_seconds_a_node(params, kernel);
  EXPECT_GT(once, 1e-10);
  EXPECT_LT(once, 1e-5);
  params.granularity = 8;
  const double each = measured_seconds_a_node(params, kernel);
  EXPECT_LT(each, 1.5 * once) << "a hash costs as much where a node takes eight of them";
}

}  // namespace
}  // namespace uts
