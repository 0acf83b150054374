// SPDX-License-Identifier: Apache-2.0
// The index of declared loads, against a list that is searched from end to end.
#include "mobile/object/load_index.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <set>
#include <vector>

#include <nacre/rng.hpp>

#include "mobile/entry/object_entry.hpp"

namespace nacre {
namespace {

void never_loaded(work&, thread_context&) {}

struct some_entries {
  explicit some_entries(std::size_t count) {
    for (std::size_t index = 1; index <= count; ++index) {
      all.push_back(
          std::make_unique<object_entry>(object_id(rank_id(0), index), known_location{rank_id(0), 1}, &never_loaded));
      static_cast<void>(all.back()->need_extra());
    }
  }
  std::vector<std::unique_ptr<object_entry>> all;
};

double any_load(rng& random) {
  switch (random.below(8)) {
    case 0:
      return 0;
    case 1:
      return std::nan("");
    case 2:
      return std::numeric_limits<double>::infinity();
    case 3:
      return -1;
    default:
      return std::ldexp(1 + random.uniform(), static_cast<int>(random.below(200)) - 100);
  }
}

TEST(load_index, has_what_declares_a_load_heavy_buckets_first_after_any_changes) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    rng random(seed);
    some_entries some_entries(30);
    std::vector<double> declared(some_entries.all.size(), 0);
    load_index index;
    for (int step = 0; step < 300; ++step) {
      const std::size_t one = random.below(some_entries.all.size());
      object_entry& entry = *some_entries.all[one];
      if (random.below(5) == 0) {
        index.forget(*entry.extra());
        declared[one] = 0;
      } else {
        const double load = any_load(random);
        index.note(entry, *entry.extra(), load);
        declared[one] = load;
      }
    }
    std::set<std::uint64_t> expected, seen;
    for (std::size_t one = 0; one < some_entries.all.size(); ++one) {
      if (declared[one] > 0) expected.insert(one + 1);
    }
    EXPECT_EQ(index.size(), expected.size());
    std::size_t last = load_index::buckets;
    index.visit(1000, [&](const object_entry& entry, std::size_t bucket, std::size_t) {
      EXPECT_LE(bucket, last);
      last = bucket;
      EXPECT_TRUE(seen.insert(entry.id.index()).second) << "seed " << seed;
      return true;
    });
    EXPECT_EQ(seen, expected) << "seed " << seed;
  }
}

TEST(load_index, knows_the_sum_of_what_it_has_after_any_changes) {
  rng random(7);
  some_entries some_entries(300);
  std::vector<double> noted(some_entries.all.size(), 0);
  load_index index;
  for (int step = 0; step < 30'000; ++step) {
    const std::size_t one = random.below(some_entries.all.size());
    object_entry& entry = *some_entries.all[one];
    if (random.below(5) == 0) {
      index.forget(*entry.extra());
      noted[one] = 0;
    } else {
      index.note(entry, *entry.extra(), 1 + 1000 * random.uniform());
      noted[one] = entry.extra()->indexed.load();
    }
    if (step % 100 != 0) continue;
    EXPECT_NEAR(index.sum(), std::accumulate(noted.begin(), noted.end(), 0.0), 1e-6);
  }
  for (const auto& each : some_entries.all) index.forget(*each->extra());
  EXPECT_EQ(index.sum(), 0);
  index.note(*some_entries.all[0], *some_entries.all[0]->extra(), std::numeric_limits<double>::infinity());
  index.forget(*some_entries.all[0]->extra());
  EXPECT_EQ(index.sum(), 0) << "nothing is left of infinity";
}

TEST(load_index, follows_a_load_that_falls_as_well_as_one_that_rises_by_more_than_an_eighth) {
  some_entries some_entries(1);
  load_index index;
  const auto sum_with = [&](double load) {
    index.note(*some_entries.all[0], *some_entries.all[0]->extra(), load);
    return index.sum();
  };
  EXPECT_EQ(sum_with(8), 8);
  EXPECT_EQ(sum_with(9), 8);
  EXPECT_EQ(sum_with(7), 8);
  EXPECT_EQ(sum_with(6), 6);
  EXPECT_EQ(sum_with(7), 7);
  EXPECT_EQ(sum_with(1), 1);
}

TEST(load_index, a_visit_takes_as_many_steps_as_it_may_and_comes_to_all_in_time) {
  some_entries some_entries(1000);
  load_index index;
  for (const auto& each : some_entries.all) index.note(*each, *each->extra(), 3.0);
  std::set<std::uint64_t> seen;
  for (int visit = 0; visit < 1000; ++visit) {
    std::size_t steps = 0;
    index.visit(16, [&](const object_entry& entry, std::size_t, std::size_t in_bucket) {
      EXPECT_EQ(in_bucket, 1000u);
      seen.insert(entry.id.index());
      ++steps;
      return true;
    });
    EXPECT_EQ(steps, 16u);
  }
  EXPECT_EQ(seen.size(), 1000u);
}

}  // namespace
}  // namespace nacre
