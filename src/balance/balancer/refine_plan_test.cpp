// SPDX-License-Identifier: Apache-2.0
// The refinement, against the best possible placements.
#include "balance/balancer/refine_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "balance/balancer/balancer_test_cluster.hpp"
#include "balance/balancer/balancer_test_host.hpp"
#include "base/sanitized.hpp"

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
      const auto index = static_cast<std::uint32_t>(random.below(random.below(2) == 0 ? 1 : count));
      const object_id id(rank_id{index}, n + 1);
      ranks[index].load += works[n];
      ranks[index].movable.push_back({.object = id, .load = works[n]});
      placed[id] = {index, works[n]};
    }
    std::set<object_id> moved;
    for (const refine_move& each : refine(ranks, tolerance)) {
      ASSERT_EQ(placed[each.object].first, each.source.value()) << "seed " << seed;
      ASSERT_NE(each.source, each.target);
      ASSERT_TRUE(moved.insert(each.object).second) << "twice, seed " << seed;
      placed[each.object].first = each.target.value();
    }
    std::vector<double> loads(count);
    for (const auto& [id, place] : placed) loads[place.first] += place.second;
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

/// The ranks of objects, and the traffic between them.
struct world {
  std::vector<refine_report> ranks;
  std::map<object_id, std::uint32_t> location;
  std::map<object_id, double> load;

  explicit world(std::uint32_t count) : ranks(count) {}
  object_id add(std::uint32_t rank, double work) {
    const object_id id(rank_id{0}, location.size() + 1);
    ranks[rank].load += work;
    ranks[rank].movable.push_back({.object = id, .load = work});
    location[id] = rank;
    load[id] = work;
    return id;
  }
  void talk(object_id source, object_id target, double weight) {
    ranks[location.at(source)].talks.push_back({source, target, rank_id{location.at(target)}, weight});
  }
  [[nodiscard]] double bound(double tolerance) const {
    double sum = 0;
    for (const auto& [id, work] : load) sum += work;
    return sum / static_cast<double>(ranks.size()) * (1 + tolerance);
  }
  [[nodiscard]] double most(const std::map<object_id, std::uint32_t>& places) const {
    std::vector<double> loads(ranks.size());
    for (const auto& [id, place] : places) loads[place] += load.at(id);
    return *std::max_element(loads.begin(), loads.end());
  }
  [[nodiscard]] double between_ranks(const std::map<object_id, std::uint32_t>& places) const {
    double sum = 0;
    for (const refine_report& each : ranks) {
      for (const refine_talk& refine_talk : each.talks)
        sum += places.at(refine_talk.object) != places.at(refine_talk.partner) ? refine_talk.weight : 0;
    }
    return sum;
  }
  [[nodiscard]] std::map<object_id, std::uint32_t> after(const std::vector<refine_move>& moves) const {
    std::map<object_id, std::uint32_t> places = location;
    for (const refine_move& each : moves) {
      EXPECT_EQ(places.at(each.object), each.source.value()) << "moved twice, or from where it is not";
      places[each.object] = each.target.value();
    }
    return places;
  }
  [[nodiscard]] world silent() const {
    world same = *this;
    for (refine_report& each : same.ranks) each.talks.clear();
    return same;
  }
};

world random_world(rng& random) {
  world all(static_cast<std::uint32_t>(2 + random.below(2)));
  const bool alike = random.below(2) == 0;
  const std::uint64_t crowded = 1 + random.below(all.ranks.size());
  std::vector<object_id> ids;
  for (std::uint64_t left = 4 + random.below(5); left != 0; --left) {
    const auto index = static_cast<std::uint32_t>(random.below(crowded));
    ids.push_back(all.add(index, alike ? 10 : std::floor(1 + 20 * random.uniform())));
  }
  for (std::uint64_t left = random.below(12); left != 0; --left) {
    const object_id source = ids[random.below(ids.size())], target = ids[random.below(ids.size())];
    if (source != target) all.talk(source, target, static_cast<double>(1 + random.below(9)));
  }
  return all;
}

/// The least traffic between ranks over all placements in which no rank has more load than `most`.
double best_talk(const world& world, double most) {
  double best = 1e300;
  std::map<object_id, std::uint32_t> places = world.location;
  const std::function<void(std::map<object_id, std::uint32_t>::iterator)> place = [&](auto next) {
    if (next == places.end()) {
      if (world.most(places) <= most) best = std::min(best, world.between_ranks(places));
      return;
    }
    for (std::uint32_t rank = 0; rank < world.ranks.size(); ++rank) {
      next->second = rank;
      place(std::next(next));
    }
  };
  place(places.begin());
  return best;
}

TEST(refine, who_talks_to_whom_makes_no_rank_heavier_and_no_talk_longer_and_is_near_the_best) {
  double sum = 0, sum_of_silent = 0, sum_of_best = 0;
  for (std::uint64_t seed = 1; seed <= (tests::sanitized ? 60 : 600); ++seed) {
    rng random(seed);
    const world all = random_world(random);
    const auto silent = all.after(refine(all.silent().ranks, 0.05));
    const auto got = all.after(refine(all.ranks, 0.05));
    ASSERT_LE(all.most(got), std::max(all.bound(0.05), all.most(silent)) + 1e-9) << "seed " << seed;
    ASSERT_LE(all.between_ranks(got), all.between_ranks(silent)) << "seed " << seed;
    ASSERT_TRUE(silent != all.location || got == all.location) << "moves for talk alone, seed " << seed;
    sum += all.between_ranks(got);
    sum_of_silent += all.between_ranks(silent);
    sum_of_best += best_talk(all, std::max(all.bound(0.05), all.most(silent)) + 1e-9);
  }
  EXPECT_LT(sum, 0.8 * sum_of_silent);
  EXPECT_LT(sum, 1.5 * sum_of_best);
}

/// Objects in groups, each of which is a ring.
world rings(std::uint32_t ranks, std::uint32_t groups, std::uint32_t members, std::uint32_t crowded,
            std::uint64_t seed) {
  world all(ranks);
  rng random(seed);
  std::vector<object_id> ids;
  for (std::uint32_t n = 0; n < groups * members; ++n) {
    ids.push_back(all.add(static_cast<std::uint32_t>(random.below(crowded)), 1));
  }
  for (std::uint32_t n = 0; n < ids.size(); ++n) {
    const std::uint32_t group = n % groups, member = n / groups;
    all.talk(ids[n], ids[(member + 1) % members * groups + group], 10);
  }
  return all;
}

TEST(refine, groups_that_talk_within_themselves_stay_together) {
  const world of_one = rings(8, 8, 8, 1, 1);
  EXPECT_EQ(of_one.between_ranks(of_one.after(refine(of_one.ranks, 0.05))), 0);
  EXPECT_GT(of_one.between_ranks(of_one.after(refine(of_one.silent().ranks, 0.05))), 300);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const world scattered = rings(8, 8, 8, 2, seed);
    const auto silent = scattered.after(refine(scattered.silent().ranks, 0.05));
    const auto got = scattered.after(refine(scattered.ranks, 0.05));
    EXPECT_LT(scattered.between_ranks(got), 0.5 * scattered.between_ranks(silent)) << "seed " << seed;
    EXPECT_EQ(scattered.most(got), scattered.most(silent));
  }
}

/// An object that all talk to has as many partners as there are objects: a look at each of them for each other one
/// would take minutes here.
TEST(refine, an_object_that_all_talk_to_costs_little) {
  constexpr std::uint32_t ranks = 64, each = 64;
  world all(ranks);
  std::vector<object_id> objects;
  for (std::uint32_t n = 0; n < ranks * each; ++n)
    objects.push_back(all.add(n / each < ranks / 4 ? n % 4 : n / each, 1));
  for (const object_id object : objects) {
    if (object != objects[0]) all.talk(object, objects[0], 1);
  }
  const auto after = all.after(refine(all.ranks, 0.05));
  EXPECT_LE(all.most(after), 1.06 * each);
}

TEST(refine, nothing_moves_for_talk_alone) {
  const world all = rings(4, 4, 8, 1, 1);
  world even(4);
  for (std::uint32_t n = 0; n < all.location.size(); ++n) static_cast<void>(even.add(n / 8, 1));
  for (const refine_talk& each : all.ranks[0].talks) even.talk(each.object, each.partner, each.weight);
  EXPECT_GT(even.between_ranks(even.location), 0);
  EXPECT_TRUE(refine(even.ranks, 0).empty());
}

TEST(refine, a_partner_that_cannot_move_counts_where_it_is_believed_to_be) {
  std::vector<refine_report> ranks(3);
  ranks[0].load = 6;
  for (std::uint64_t n = 1; n <= 6; ++n) ranks[0].movable.push_back(object(n, 1, 1));
  const auto id = [](std::uint64_t n) { return object(n, 1, 1).object; };
  ranks[0].talks = {{id(5), id(50), rank_id{2}, 1}, {id(6), id(60), rank_id{0}, 5}, {id(1), id(70), rank_id{0}, 5}};
  std::map<object_id, rank_id> went;
  for (const refine_move& each : refine(ranks, 0)) went[each.object] = each.target;
  EXPECT_EQ(went.size(), 4u);
  EXPECT_EQ(went[id(5)], rank_id{2});
  EXPECT_FALSE(went.contains(id(1)) || went.contains(id(6))) << "they talk to what is on rank 0";
}

TEST(refine, talk_of_what_does_not_exist_does_no_harm) {
  world all = rings(3, 2, 4, 1, 1);
  const auto previous = refine(all.silent().ranks, 0.05);
  const object_id known = all.location.begin()->first, strange(rank_id{1}, 999);
  all = all.silent();
  all.ranks[1].talks = {{strange, known, rank_id{0}, 5},
                        {known, strange, rank_id{77}, 5},
                        {known, known, rank_id{0}, 5},
                        {known, object_id(), rank_id{1}, std::numeric_limits<double>::quiet_NaN()},
                        {known, strange, rank_id{2}, -3}};
  const auto plan = refine(all.ranks, 0.05);
  ASSERT_EQ(plan.size(), previous.size());
  for (std::size_t n = 0; n < plan.size(); ++n) EXPECT_EQ(plan[n].object, previous[n].object);
}

}  // namespace
}  // namespace nacre::balance
