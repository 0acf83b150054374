// SPDX-License-Identifier: Apache-2.0
// What the user and scripts get to read.
#include "report.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "presets.hpp"
#include "sequential.hpp"

namespace uts {
namespace {

search_result t1_result() {
  return {.params = find_preset("T1").params,
          .counts = {4130071, 3305118, 10},
          .seconds = 0.5,
          .mode = "sequential",
          .sha = "portable"};
}

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

TEST(report, counts_that_are_the_published_ones_match) {
  const search_result result = t1_result();
  EXPECT_EQ(judge(result), verdict::match);
  const std::string text = result_text(result);
  EXPECT_TRUE(has(text, "T1: geometric, shape fixed, depth 10, branching 4, seed 19\n")) << text;
  EXPECT_TRUE(has(text, "nodes            4130071         4130071  match\n")) << text;
  EXPECT_TRUE(has(text, "leaves           3305118         3305118  match\n")) << text;
  EXPECT_TRUE(has(text, "depth                 10              10  match\n")) << text;
  EXPECT_TRUE(has(text, "nodes/s           8.26 M\n")) << text;
  EXPECT_FALSE(has(text, "MISMATCH"));
}

TEST(report, a_single_wrong_number_is_a_mismatch_and_marked) {
  search_result result = t1_result();
  result.counts.leaves -= 1;
  EXPECT_EQ(judge(result), verdict::mismatch);
  EXPECT_TRUE(has(result_text(result), "leaves           3305117         3305118  MISMATCH\n"));
  EXPECT_TRUE(has(result_json(result), "\"verdict\":\"MISMATCH\""));
}

TEST(report, a_tree_without_published_counts_says_so) {
  search_result result = t1_result();
  result.params.seed = 7;
  EXPECT_EQ(judge(result), verdict::unknown);
  EXPECT_TRUE(has(result_text(result), "No published counts are known"));
  EXPECT_FALSE(has(result_text(result), "atch"));
}

TEST(report, json_holds_everything_in_one_line) {
  const std::string line = result_json(t1_result());
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const nlohmann::json json = nlohmann::json::parse(line);
  EXPECT_EQ(json["tree"], "T1");
  EXPECT_EQ(json["parameters"]["type"], "geometric");
  EXPECT_EQ(json["parameters"]["seed"], 19);
  EXPECT_EQ(json["mode"], "sequential");
  EXPECT_EQ(json["sha"], "portable");
  EXPECT_EQ(json["nodes"], 4130071);
  EXPECT_EQ(json["leaves"], 3305118);
  EXPECT_EQ(json["depth"], 10);
  EXPECT_EQ(json["seconds"], 0.5);
  EXPECT_EQ(json["nodes_per_second"], 8260142.0);
  EXPECT_EQ(json["known"]["nodes"], 4130071);
  EXPECT_EQ(json["verdict"], "match");
}

TEST(report, json_of_a_search_by_messages_tells_how_it_was_shared) {
  search_result result = t1_result();
  EXPECT_FALSE(nlohmann::json::parse(result_json(result)).contains("sharing"));
  result.mode = "stealing";
  result.sharing = {
      .last_node = 0.25, .chunks = 7, .refusals = 9, .chunks_near = 3, .work_outrun = 2, .requests_outrun = 1};
  EXPECT_EQ(nlohmann::json::parse(result_json(result))["sharing"],
            nlohmann::json::parse(R"({"last_node":0.25,"chunks":7,"chunks_near":3,"refusals":9,"work_outrun":2,)"
                                  R"("requests_outrun":1})"));
}

TEST(report, json_of_a_tree_without_a_name_or_known_size_has_nulls) {
  search_result result = t1_result();
  result.params.seed = 7;
  const nlohmann::json json = nlohmann::json::parse(result_json(result));
  EXPECT_TRUE(json["tree"].is_null());
  EXPECT_TRUE(json["known"].is_null());
  EXPECT_EQ(json["verdict"], "unknown");
}

TEST(report, the_list_shows_every_preset_with_its_size) {
  const std::string list = preset_list();
  for (const preset& p : presets()) {
    EXPECT_TRUE(has(list, std::string(p.name).c_str()));
    EXPECT_TRUE(has(list, std::to_string(p.size.nodes).c_str()));
  }
}

TEST(report, progress_is_told_in_three_digits_with_what_is_left_when_that_is_known) {
  EXPECT_EQ(progress_text(999, 12.3, std::nullopt), "uts: 999 nodes, 12/s");
  EXPECT_EQ(progress_text(43'100'000, 52.74e6, 102181082), "uts: 43.1 M nodes, 52.7 M/s, 42 % of 102 M, 1 s left");
  EXPECT_EQ(progress_text(999'600, 1e9, std::nullopt), "uts: 1.00 M nodes, 1.00 G/s");
  EXPECT_EQ(progress_text(200, 10, 100), "uts: 200 nodes, 10/s") << "more nodes than there should be: no forecast";
}

TEST(report, the_sequential_search_fills_in_a_result) {
  progress_line silent(progress_mode::silent, std::nullopt);
  tree_params params = find_preset("T1").params;
  params.depth = 5;
  const search_result result = search_sequentially(params, select_sha1(sha1_choice::portable), silent);
  EXPECT_EQ(result.counts.nodes, 3987u);
  EXPECT_EQ(judge(result), verdict::match);
  EXPECT_EQ(result.params, params);
  EXPECT_EQ(result.mode, "sequential");
  EXPECT_EQ(result.sha, "portable");
  EXPECT_GT(result.seconds, 0);
}

}  // namespace
}  // namespace uts
