// SPDX-License-Identifier: Apache-2.0
// Replaying recorded loads.
#include "tool/replay.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include <nacre/error.hpp>

namespace nacre::tool {
namespace {

/// In each interval 16 objects work 1 ms each, in two messages; all were recorded on one of 4 ranks.
balance::load_trace one_sided(std::uint32_t intervals) {
  balance::load_trace trace{.ranks = 4, .workers = 1, .interval = 0.01};
  for (std::uint32_t interval = 0; interval < intervals; ++interval) {
    for (std::uint64_t object = 1; object <= 16; ++object) trace.rows.push_back({interval, 2, object, 1e-3, 2, 100});
  }
  return trace;
}

std::uint64_t moves(const std::vector<replayed_interval>& replayed_intervals) {
  return std::accumulate(replayed_intervals.begin(), replayed_intervals.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const auto& each) { return sum + each.moves; });
}

TEST(replay, without_a_balancer_one_rank_does_all_that_was_recorded_there) {
  const auto got = replay(one_sided(3), {});
  ASSERT_EQ(got.size(), 3u);
  for (const replayed_interval& each : got) {
    EXPECT_NEAR(each.work, 16e-3, 1e-12);
    EXPECT_NEAR(each.seconds, 16e-3, 0.5e-3);
    EXPECT_NEAR(each.imbalance, 4, 0.1);
    EXPECT_EQ(each.moves, 0u);
  }
}

TEST(replay, with_a_balancer_the_work_spreads_and_the_bytes_of_its_objects_are_counted) {
  for (const char* balancer : {"steal", "diffusion", "gossip", "lifeline", "adaptive"}) {
    const auto got = replay(one_sided(3), {.balancer = balancer});
    ASSERT_EQ(got.size(), 3u) << balancer;
    EXPECT_LT(got.back().imbalance, 2.5) << balancer;
    EXPECT_GE(moves(got), 4u) << balancer;
    EXPECT_GE(got.front().bytes, 100 * got.front().moves) << balancer;
  }
}

TEST(replay, on_more_ranks_a_recorded_one_means_those_in_its_place) {
  const auto got = replay(one_sided(1), {.ranks = 16});
  ASSERT_EQ(got.size(), 1u);
  EXPECT_NEAR(got[0].imbalance, 4, 0.1);  // 4 of the 16
  EXPECT_NEAR(replay(one_sided(1), {.ranks = 2})[0].imbalance, 2, 0.1);
}

TEST(replay, the_same_seed_gives_the_same_run) {
  const replay_options options{.balancer = "gossip", .ranks = 8, .seed = 5};
  const auto trace = one_sided(4);
  EXPECT_EQ(replay_json(replay(trace, options), trace), replay_json(replay(trace, options), trace));
}

TEST(replay, begins_where_objects_first_worked_and_not_where_they_were_made) {
  // Rank 0 makes four objects; two work on rank 1 at once, one on rank 2 in the next interval, and one stays.
  const balance::load_trace trace{.ranks = 4,
                                  .workers = 1,
                                  .interval = 1,
                                  .rows = {{0, 0, 1, 2e-7, 1, 0},
                                           {0, 0, 2, 2e-7, 1, 0},
                                           {0, 0, 3, 2e-7, 1, 0},
                                           {0, 0, 4, 0.5, 1, 100},
                                           {0, 1, 1, 0.5, 1, 100},
                                           {0, 1, 2, 0.25, 1, 100},
                                           {1, 1, 1, 0.25, 1, 100},
                                           {1, 2, 3, 0.5, 1, 100},
                                           {2, 3, 1, 0.5, 1, 100}}};  // a move that is not replayed
  const auto got = replay(trace, {});
  ASSERT_EQ(got.size(), 3u);
  EXPECT_NEAR(got[0].seconds, 0.75, 1e-3);  // rank 1: objects 1 and 2
  EXPECT_NEAR(got[1].seconds, 0.5, 1e-3);   // rank 2: object 3
  EXPECT_NEAR(got[2].seconds, 0.5, 1e-3);
}

TEST(replay, begins_where_most_of_an_interval_was_spent) {
  const balance::load_trace moved{
      .ranks = 2,
      .workers = 1,
      .interval = 1,
      .rows = {{0, 0, 1, 0.25, 1, 0}, {0, 0, 2, 0.5, 1, 0}, {0, 1, 1, 0.5, 1, 0}, {0, 1, 3, 0.25, 1, 0}}};
  EXPECT_NEAR(replay(moved, {}).front().seconds, 1.0, 1e-3);  // rank 1: objects 1 and 3
}

TEST(replay, tells_how_long_the_recorded_run_took) {
  EXPECT_EQ(recorded_text(one_sided(3)), "recorded: 0.020000 to 0.030000 seconds on 4 ranks of 1 workers\n");
}

TEST(replay, as_json_holds_the_rows_and_how_long_the_recorded_run_took) {
  const auto json = nlohmann::json::parse(
      replay_json({{.number = 3, .seconds = 2, .work = 4, .imbalance = 2, .moves = 5, .bytes = 7}}, one_sided(3)));
  EXPECT_EQ(json["intervals"], nlohmann::json::parse(R"([{"interval": 3, "seconds": 2.0, "work": 4.0, "imbalance": 2.0,
                                                          "moves": 5, "bytes": 7}])"));
  EXPECT_DOUBLE_EQ(json["recorded"]["seconds_min"].get<double>(), 0.02);
  EXPECT_DOUBLE_EQ(json["recorded"]["seconds_max"].get<double>(), 0.03);
  EXPECT_EQ(json["recorded"]["ranks"], 4);
  EXPECT_EQ(json["recorded"]["workers"], 1);
  EXPECT_EQ(replay_json({}, {}), "{\"recorded\":null,\"intervals\":[]}\n");
}

std::string refusal_of(const std::string& setting) {
  try {
    static_cast<void>(replay(one_sided(1), {.settings = {setting}}));
  } catch (const setup_error& error) {
    return error.what();
  }
  return {};
}

TEST(replay, names_what_cannot_be) {
  EXPECT_NE(refusal_of("balance.tick").find("write --set NAME=VALUE"), std::string::npos);
  EXPECT_NE(refusal_of("transport=shm").find("leave it out"), std::string::npos);
  EXPECT_NE(refusal_of("transport=sim").find("leave it out"), std::string::npos);
  EXPECT_NE(refusal_of("ranks=3").find("write --ranks N"), std::string::npos);
  EXPECT_NE(refusal_of("balancer=steal").find("write --balancer NAME"), std::string::npos);
  EXPECT_NE(refusal_of("balance.tik=1ms").find("balance.tick"), std::string::npos);
  EXPECT_EQ(refusal_of("balance.tick=1ms"), "");
  EXPECT_THROW(static_cast<void>(run_replay({.file = "/nowhere/trace"})), setup_error);
  EXPECT_THROW(static_cast<void>(run_replay({.file = "/"})), setup_error);
}

TEST(replay, does_not_end_well_when_a_file_that_was_asked_for_is_lost) {
  testing::internal::CaptureStderr();
  EXPECT_THROW(static_cast<void>(replay(one_sided(1), {.settings = {"summary_json=/dev/full"}})), std::runtime_error);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("'/dev/full' is lost"), std::string::npos);
}

TEST(replay, the_table_ends_with_a_sum) {
  const std::string text =
      replay_text({{.number = 3, .seconds = 2, .work = 4, .imbalance = 2, .moves = 5, .bytes = 7},
                   {.number = 4, .seconds = 1, .work = 4, .imbalance = 1, .moves = 1, .bytes = 2}});
  EXPECT_NE(text.find("all     3.000000     8.000000       1.50        6             9\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace nacre::tool
