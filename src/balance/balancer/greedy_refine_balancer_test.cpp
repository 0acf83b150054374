// SPDX-License-Identifier: Apache-2.0
// Coordinator and rank, against a scripted host.
#include "balance/balancer/greedy_refine_balancer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <nacre/archive.hpp>

#include "balance/balancer/balancer_test_cluster.hpp"
#include "balance/balancer/balancer_test_host.hpp"

namespace nacre::balance {
namespace {

enum class greedy_refine_kind : std::uint8_t { look, report, moves };
struct wire_object {
  std::uint64_t object = 0;
  double load = 0;
  std::uint32_t target = 0;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(object, load, target);
  }
};
struct wire_talk {
  std::uint64_t object = 0, partner = 0;
  std::uint32_t partner_rank = 0;
  double weight = 0;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(object, partner, partner_rank, weight);
  }
};
std::vector<std::byte> bytes_of(greedy_refine_kind kind, std::uint32_t number, double load,
                                const std::vector<wire_object>& objects, const std::vector<wire_talk>& talks = {},
                                double measured_seconds = 0, double measured_messages = 0) {
  return pack(kind, number, load, objects, talks, measured_seconds, measured_messages);
}

TEST(greedy_refine_balancer, a_rank_reports_to_the_coordinator_and_does_what_it_says_with_what_is_still_there) {
  scripted_host host;
  host.self = rank_id{3};
  host.objects = {object(1, 5, 1, true), object(2, 4, 1), object(3, 9, 0), object(4, 1, 1), object(5, std::nan(""), 1)};
  greedy_refine_balancer one({.objects_max = 2});
  one.on_message(host, rank_id{4}, bytes_of(greedy_refine_kind::look, 1, 0, {}));
  EXPECT_TRUE(host.sent.empty()) << "that is not the coordinator";
  one.on_message(host, rank_id{0}, bytes_of(greedy_refine_kind::look, 8, 0, {}));
  ASSERT_EQ(host.sent.size(), 1u);
  EXPECT_EQ(host.sent[0], std::pair(rank_id{0}, bytes_of(greedy_refine_kind::report, 8, 19, {{3, 9, 0}, {2, 4, 0}})));
  const std::vector<wire_object> orders = {{1, 0, 7}, {2, 0, 7}, {2, 0, 8}, {3, 0, 3}, {4, 0, 100}, {77, 0, 7}};
  one.on_message(host, rank_id{4}, bytes_of(greedy_refine_kind::moves, 8, 0, orders));
  EXPECT_TRUE(host.moved.empty()) << "that is not the coordinator";
  one.on_message(host, rank_id{0}, bytes_of(greedy_refine_kind::moves, 8, 0, orders));
  EXPECT_EQ(host.moved, (std::vector<std::uint64_t>{2})) << "1 runs, 3 is there already, 100 and 77 do not exist";
}

TEST(greedy_refine_balancer, the_coordinator_decides_once_everybody_has_answered_and_rests) {
  scripted_host host;
  host.ranks = 3;
  greedy_refine_balancer one({.look_interval = {1, 4}});
  one.on_tick(host);
  EXPECT_EQ(host.sent.size(), 2u);
  host.time = 100;
  one.on_tick(host);
  EXPECT_EQ(host.sent.size(), 2u) << "a look is open";
  host.objects = {object(1, 1, 1), object(2, 1, 1)};
  one.on_message(host, rank_id{1}, bytes_of(greedy_refine_kind::report, 1, 8, {{11, 4, 0}, {12, 4, 0}}));
  one.on_message(host, rank_id{1}, bytes_of(greedy_refine_kind::report, 1, 8, {{11, 4, 0}, {12, 4, 0}}));
  one.on_message(host, rank_id{2}, bytes_of(greedy_refine_kind::report, 7, 0, {}));
  EXPECT_EQ(host.sent.size(), 2u) << "one is missing";
  one.on_message(host, rank_id{2}, bytes_of(greedy_refine_kind::report, 1, 0, {}));
  ASSERT_EQ(host.sent.size(), 3u);
  EXPECT_EQ(host.sent[2], std::pair(rank_id{1}, bytes_of(greedy_refine_kind::moves, 1, 0, {{12, 0, 2}})));
  EXPECT_TRUE(host.moved.empty());
  host.time = 100.4;
  one.on_tick(host);
  EXPECT_EQ(host.sent.size(), 3u) << "it rests";
  host.time = 101;
  one.on_tick(host);
  EXPECT_EQ(host.sent.size(), 5u);
}

TEST(greedy_refine_balancer, a_rank_reports_who_talks_to_whom_only_by_communication) {
  for (const bool by_communication : {false, true}) {
    scripted_host host;
    host.self = rank_id{3};
    host.objects = {object(1, 5, 1, true), object(2, 4, 1)};
    host.talks[1] = {{object(2, 0, 0).object, rank_id{3}, 7, 0}};
    host.talks[2] = {{object(9, 0, 0).object, rank_id{5}, 2, 16384}};
    greedy_refine_balancer one({.communication = by_communication});
    EXPECT_EQ(one.observes_communication(), by_communication);
    one.on_message(host, rank_id{0}, bytes_of(greedy_refine_kind::look, 8, 0, {}));
    ASSERT_EQ(host.sent.size(), 1u);
    const std::vector<wire_talk> talks = {{2, 9, 5, 3}};  // a running object does not move
    EXPECT_EQ(host.sent[0].second, bytes_of(greedy_refine_kind::report, 8, 9, {{2, 4, 0}},
                                            by_communication ? talks : std::vector<wire_talk>()));
  }
}

TEST(greedy_refine_balancer, the_coordinator_moves_next_to_each_other_what_talks) {
  scripted_host host;
  host.ranks = 2;
  greedy_refine_balancer one({.tolerance = 0, .communication = true});
  one.on_tick(host);
  const std::vector<wire_object> four = {{11, 1, 0}, {12, 1, 0}, {13, 1, 0}, {14, 1, 0}};
  const std::vector<wire_talk> talks = {{11, 13, 1, 5}, {13, 11, 1, 5}, {12, 14, 1, 5}, {14, 12, 1, 5}};
  one.on_message(host, rank_id{1}, bytes_of(greedy_refine_kind::report, 1, 4, four, talks));
  ASSERT_EQ(host.sent.size(), 2u);
  EXPECT_EQ(host.sent[1], std::pair(rank_id{1}, bytes_of(greedy_refine_kind::moves, 1, 0, {{11, 0, 0}, {13, 0, 0}})));
}

TEST(greedy_refine_balancer, all_ranks_estimate_alike_what_nobody_has_measured) {
  scripted_host host;
  host.ranks = 3;
  greedy_refine_balancer one({.look_interval = {1, 4}});
  one.on_tick(host);
  ASSERT_EQ(host.sent.size(), 2u);
  EXPECT_EQ(host.sent[0].second, bytes_of(greedy_refine_kind::look, 1, 0, {}));
  const auto report = [&](std::uint32_t source, std::uint32_t number, double seconds, double messages) {
    one.on_message(host, rank_id{source},
                   bytes_of(greedy_refine_kind::report, number, source == 1 ? 8 : 0,
                            {{10 * source + 1, 4, 0}, {10 * source + 2, 4, 0}}, {}, seconds, messages));
  };
  report(1, 1, 0.5, 10);
  report(2, 1, 0.1, 10);
  EXPECT_EQ(host.sent.size(), 2u) << "some have measured, others not: no moves by that";
  EXPECT_EQ(host.assumed_seconds, 0);
  one.on_tick(host);
  ASSERT_EQ(host.sent.size(), 4u) << "it looks again at once";
  EXPECT_EQ(host.sent[2].second, bytes_of(greedy_refine_kind::look, 2, 0.03, {}));
  report(1, 2, 0.4, 10);
  report(2, 2, 0.4, 10);
  ASSERT_EQ(host.sent.size(), 5u);
  EXPECT_EQ(host.sent[4].second, bytes_of(greedy_refine_kind::moves, 2, 0, {{12, 0, 0}}));
  EXPECT_EQ(host.assumed_seconds, 0.03);

  scripted_host other;
  other.self = rank_id{2};
  greedy_refine_balancer asked({});
  other.objects = {object(1, 5, 2), object(2, 4, 1)};
  other.objects[0].seconds = 5;
  asked.on_message(other, rank_id{0}, bytes_of(greedy_refine_kind::look, 8, 0.25, {}));
  EXPECT_EQ(other.assumed_seconds, 0.25);
  ASSERT_EQ(other.sent.size(), 1u);
  EXPECT_EQ(other.sent[0].second, bytes_of(greedy_refine_kind::report, 8, 9, {{1, 5, 0}, {2, 4, 0}}, {}, 5, 2));
  asked.on_message(other, rank_id{0}, bytes_of(greedy_refine_kind::look, 9, std::nan(""), {}));
  EXPECT_EQ(other.assumed_seconds, 0);
}

TEST(greedy_refine_balancer, spreads_standing_load_and_then_stops) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    rng random(seed);
    cluster_options options;
    options.seed = seed;
    options.ranks = static_cast<std::uint32_t>(2 + random.below(3));
    options.step = 20e-6;
    options.frozen = true;
    options.make = [] { return std::make_unique<greedy_refine_balancer>(greedy_refine_balancer::options{}); };
    cluster all(options);
    std::vector<double> works(1 + random.below(8));
    for (double& each : works) {
      each = std::floor(1 + 20 * random.uniform());
      all.add(0, each);
    }
    all.run(0.1);
    double most = 0, sum = 0;
    for (std::uint32_t rank = 0; rank < options.ranks; ++rank) {
      double load = 0;
      for (const double each : all.loads(rank)) load += each;
      most = std::max(most, load);
      sum += load;
    }
    double expected = 0;
    for (const double each : works) expected += each;
    EXPECT_DOUBLE_EQ(sum, expected);
    EXPECT_LE(most, (2 - 1.0 / options.ranks) * best_makespan(works, options.ranks) * 1.05 + 1e-9) << "seed " << seed;
    EXPECT_LT(all.last_migration, 0.05) << "still moving, seed " << seed;
  }
}

}  // namespace
}  // namespace nacre::balance
