// SPDX-License-Identifier: Apache-2.0
// The refinement against the best placement there is, and coordinator and rank against a host that the test plays.
#include "balance/balancer/greedy_refine_balancer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include <nacre/archive.hpp>

#include "balance/balancer/balancer_test_cluster.hpp"
#include "balance/balancer/balancer_test_host.hpp"

namespace nacre::balance {
namespace {

TEST(refine, ends_within_twice_the_best_placement_and_moves_an_object_once_at_most) {
  for (std::uint64_t seed = 1; seed <= 5000; ++seed) {
    rng random(seed);
    const auto count = static_cast<std::uint32_t>(2 + random.below(3));
    const double tolerance = random.below(2) == 0 ? 0 : 0.1;
    std::vector<refine_report> ranks(count);
    std::map<object_id, std::pair<std::uint32_t, double>> placed;
    std::vector<double> works(1 + random.below(8));
    for (std::size_t n = 0; n < works.size(); ++n) {
      works[n] = std::floor(1 + 20 * random.uniform());
      const auto at = static_cast<std::uint32_t>(random.below(random.below(2) == 0 ? 1 : count));
      const object_id id(rank_id{at}, n + 1);
      ranks[at].load += works[n];
      ranks[at].movable.push_back({.object = id, .load = works[n]});
      placed[id] = {at, works[n]};
    }
    std::set<object_id> moved;
    for (const refine_move& each : refine(ranks, tolerance)) {
      ASSERT_EQ(placed[each.object].first, each.from.value()) << "seed " << seed;
      ASSERT_NE(each.from, each.to);
      ASSERT_TRUE(moved.insert(each.object).second) << "twice, seed " << seed;
      placed[each.object].first = each.to.value();
    }
    std::vector<double> loads(count);
    for (const auto& [id, where] : placed) loads[where.first] += where.second;
    const double most = *std::max_element(loads.begin(), loads.end());
    ASSERT_LE(most, (2 - 1.0 / count) * best_makespan(works, count) * (1 + tolerance) + 1e-9) << "seed " << seed;
  }
}

TEST(refine, leaves_everything_where_no_rank_is_far_above_the_average) {
  std::vector<refine_report> ranks(3);
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    for (std::uint64_t n = 1; n <= 10; ++n) ranks[rank].movable.push_back(object(n + 10 * rank, 1, 1));
    ranks[rank].load = 10;
  }
  ranks[0].load = 10.9;
  EXPECT_TRUE(refine(ranks, 0.05).empty());
  EXPECT_EQ(refine(ranks, 0.04).size(), 0u) << "a move would not help";
  ranks[0].load = 13;
  EXPECT_EQ(refine(ranks, 0.05).size(), 2u) << "just enough";
}

enum class kind : std::uint8_t { look, report, moves };
struct wire_object {
  std::uint64_t object = 0;
  double load = 0;
  std::uint32_t to = 0;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(object, load, to);
  }
};
std::vector<std::byte> bytes_of(kind what, std::uint32_t number, double load, const std::vector<wire_object>& objects) {
  return pack(what, number, load, objects);
}

TEST(greedy_refine_balancer, a_rank_reports_to_the_coordinator_and_does_what_it_says_with_what_is_still_there) {
  scripted_host host;
  host.self = rank_id{3};
  host.objects = {object(1, 5, 1, true), object(2, 4, 1), object(3, 9, 0), object(4, 1, 1), object(5, std::nan(""), 1)};
  greedy_refine_balancer one({.objects_max = 2});
  one.on_message(host, rank_id{4}, bytes_of(kind::look, 1, 0, {}));
  EXPECT_TRUE(host.sent.empty()) << "that is not the coordinator";
  one.on_message(host, rank_id{0}, bytes_of(kind::look, 8, 0, {}));
  ASSERT_EQ(host.sent.size(), 1u);
  EXPECT_EQ(host.sent[0], std::pair(rank_id{0}, bytes_of(kind::report, 8, 19, {{3, 9, 0}, {2, 4, 0}})));
  const std::vector<wire_object> orders = {{1, 0, 7}, {2, 0, 7}, {2, 0, 8}, {3, 0, 3}, {4, 0, 100}, {77, 0, 7}};
  one.on_message(host, rank_id{4}, bytes_of(kind::moves, 8, 0, orders));
  EXPECT_TRUE(host.moved.empty()) << "that is not the coordinator";
  one.on_message(host, rank_id{0}, bytes_of(kind::moves, 8, 0, orders));
  EXPECT_EQ(host.moved, (std::vector<std::uint64_t>{2})) << "1 runs, 3 is there already, 100 and 77 do not exist";
}

TEST(greedy_refine_balancer, the_coordinator_decides_once_everybody_has_answered_and_rests) {
  scripted_host host;
  host.ranks = 3;
  greedy_refine_balancer one({.pace = {1, 4}});
  one.on_tick(host);
  EXPECT_EQ(host.sent.size(), 2u);
  host.time = 100;
  one.on_tick(host);
  EXPECT_EQ(host.sent.size(), 2u) << "a look is open";
  host.objects = {object(1, 1, 1), object(2, 1, 1)};
  one.on_message(host, rank_id{1}, bytes_of(kind::report, 1, 8, {{11, 4, 0}, {12, 4, 0}}));
  one.on_message(host, rank_id{1}, bytes_of(kind::report, 1, 8, {{11, 4, 0}, {12, 4, 0}}));
  one.on_message(host, rank_id{2}, bytes_of(kind::report, 7, 0, {}));
  EXPECT_EQ(host.sent.size(), 2u) << "one is missing";
  one.on_message(host, rank_id{2}, bytes_of(kind::report, 1, 0, {}));
  ASSERT_EQ(host.sent.size(), 3u);
  EXPECT_EQ(host.sent[2], std::pair(rank_id{1}, bytes_of(kind::moves, 1, 0, {{12, 0, 2}})));
  EXPECT_TRUE(host.moved.empty());
  host.time = 100.4;
  one.on_tick(host);
  EXPECT_EQ(host.sent.size(), 3u) << "it rests";
  host.time = 101;
  one.on_tick(host);
  EXPECT_EQ(host.sent.size(), 5u);
}

TEST(greedy_refine_balancer, spreads_standing_load_and_then_stops) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    rng random(seed);
    cluster_options how;
    how.seed = seed;
    how.ranks = static_cast<std::uint32_t>(2 + random.below(3));
    how.step = 20e-6;
    how.frozen = true;
    how.make = [] { return std::make_unique<greedy_refine_balancer>(greedy_refine_balancer::options{}); };
    cluster all(how);
    std::vector<double> works(1 + random.below(8));
    for (double& each : works) {
      each = std::floor(1 + 20 * random.uniform());
      all.add(0, each);
    }
    all.run(0.1);
    double most = 0, sum = 0;
    for (std::uint32_t rank = 0; rank < how.ranks; ++rank) {
      double load = 0;
      for (const double each : all.loads(rank)) load += each;
      most = std::max(most, load);
      sum += load;
    }
    double expected = 0;
    for (const double each : works) expected += each;
    EXPECT_DOUBLE_EQ(sum, expected);
    EXPECT_LE(most, (2 - 1.0 / how.ranks) * best_makespan(works, how.ranks) * 1.05 + 1e-9) << "seed " << seed;
    EXPECT_LT(all.last_migration, 0.05) << "still moving, seed " << seed;
  }
}

}  // namespace
}  // namespace nacre::balance
