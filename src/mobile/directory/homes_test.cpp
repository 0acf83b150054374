// SPDX-License-Identifier: Apache-2.0
// Homes: births, runs of the names of earlier lives, and those that tests draw.
#include "mobile/directory/homes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include <nacre/rng.hpp>

#include "mobile/directory/resized_homes.hpp"
#include "mobile/directory/scrambled_homes.hpp"

namespace nacre {
namespace {

object_id named_element(std::uint32_t birth, std::uint64_t number) {
  return {rank_id(birth), object_id::first_element + number};
}

homes resized(std::uint32_t ranks, earlier_names given) {
  return homes(rank_id(0), ranks, std::make_shared<resized_homes>(ranks, std::move(given)));
}

TEST(homes, are_births_in_a_job_that_began_anew) {
  const homes all(rank_id(0), 3);
  for (std::uint32_t birth = 0; birth < 5; ++birth) {
    EXPECT_EQ(all.home_of(object_id(rank_id(birth), 17)), rank_id(birth));
    EXPECT_EQ(all.home_of(named_element(birth, 17)), rank_id(birth));
    EXPECT_EQ(all.knows(object_id(rank_id(birth), 17)), birth < 3);
    EXPECT_EQ(all.knows(named_element(birth, 17)), birth < 3);
    EXPECT_FALSE(all.knows(object_id::from_value(std::uint64_t{birth} << object_id::index_bits))) << "index 0";
  }
  EXPECT_EQ(all.new_name(rank_id(2), 9), object_id(rank_id(2), 9));
  EXPECT_EQ(all.births(), 3U);
  EXPECT_FALSE(all.reckoned());
}

/// Expects that the names of an earlier life, in the order of births and indices, have homes in runs of whole blocks,
/// for ranks in ascending order, of equal lengths but for one block.
void expect_runs(const homes& all, std::uint32_t ranks, const std::vector<object_id>& names, std::uint64_t blocks) {
  std::map<std::uint32_t, std::set<std::uint64_t>> blocks_of;
  std::uint32_t last = 0;
  for (const object_id id : names) {
    ASSERT_TRUE(all.knows(id));
    const rank_id home = all.home_of(id);
    ASSERT_LT(home.value(), ranks);
    ASSERT_GE(home.value(), last) << "neighbours stay neighbours";
    last = home.value();
    blocks_of[home.value()].insert(id.value() / names_a_block);
  }
  std::uint64_t seen = 0;
  for (const auto& [rank, own_blocks] : blocks_of) {
    EXPECT_GE(own_blocks.size(), blocks / ranks);
    EXPECT_LE(own_blocks.size(), blocks / ranks + 1);
    seen += own_blocks.size();
  }
  EXPECT_EQ(seen, blocks) << "no block has two homes";
  EXPECT_EQ(blocks_of.size(), std::min<std::uint64_t>(blocks, ranks));
}

TEST(resized_homes, share_out_objects_in_runs_of_blocks_to_any_number_of_ranks) {
  rng random(5);
  for (int round = 0; round < 60; ++round) {
    earlier_names given;
    std::vector<object_id> names;
    std::uint64_t blocks = 0;
    for (std::uint64_t births = 1 + random.below(6), birth = 0; birth < births; ++birth) {
      const std::uint64_t last = random.below(4) == 0 ? 0 : 1 + random.below(200);
      given.last_indices.push_back(last);
      for (std::uint64_t index = 1; index <= last; ++index)
        names.emplace_back(rank_id(static_cast<std::uint32_t>(birth)), index);
      blocks += last == 0 ? 0 : last / names_a_block + 1;
    }
    const auto ranks = static_cast<std::uint32_t>(1 + random.below(8));
    const homes all = resized(ranks, given);
    expect_runs(all, ranks, names, blocks);
    for (std::uint32_t birth = 0; birth < 9; ++birth) {
      const std::uint64_t last = birth < given.last_indices.size() ? given.last_indices[birth] : 0;
      const object_id later(rank_id(birth), last + 1 + random.below(1000));
      EXPECT_EQ(all.knows(later), birth < ranks);
      EXPECT_EQ(all.home_of(later), rank_id(birth)) << "what is made in this life belongs to its birth";
      if (birth < ranks) {
        EXPECT_EQ(all.new_name(rank_id(birth), later.index()), later);
      }
    }
  }
}

TEST(resized_homes, share_out_the_places_of_each_array_whatever_births_they_have) {
  rng random(6);
  for (int round = 0; round < 60; ++round) {
    earlier_names given;
    std::uint64_t next = names_a_block;
    for (std::uint64_t arrays = 1 + random.below(4); arrays != 0; --arrays) {
      next += names_a_block * random.below(3);  // of arrays that have ended
      given.arrays.push_back({next, random.below(150)});
      next += (given.arrays.back().places + names_a_block - 1) / names_a_block * names_a_block;
    }
    const auto ranks = static_cast<std::uint32_t>(1 + random.below(8));
    const homes all = resized(ranks, given);
    for (const earlier_names::array& each : given.arrays) {
      std::vector<object_id> names;
      for (std::uint64_t place = 0; place < each.places; ++place) {
        names.push_back(named_element(0, each.first + place));
        const object_id born_elsewhere = named_element(11, each.first + place);
        EXPECT_EQ(all.home_of(born_elsewhere), all.home_of(names.back()));
      }
      if (!names.empty()) expect_runs(all, ranks, names, (each.places + names_a_block - 1) / names_a_block);
    }
    EXPECT_EQ(all.home_of(named_element(3, next + 5)), rank_id(3)) << "an array of this life";
    EXPECT_EQ(all.knows(named_element(3, next + 5)), 3 < ranks);
  }
}

TEST(resized_homes, reckon_with_as_many_names_as_there_can_be) {
  constexpr std::uint32_t births = 1000;
  earlier_names given;
  given.last_indices.assign(births, object_id::first_element - 1);
  const homes all = resized(object_id::home_max, given);
  EXPECT_EQ(all.home_of(object_id(rank_id(0), 1)), rank_id(0));
  EXPECT_EQ(all.home_of(object_id(rank_id(births - 1), object_id::first_element - 1)),
            rank_id(object_id::home_max - 1));
  EXPECT_EQ(all.home_of(object_id(rank_id(births / 2), 1)), rank_id(object_id::home_max / 2));
}

TEST(resized_homes_death_test, give_no_name_twice) {
  earlier_names given;
  given.last_indices = {0, 40};
  const homes all = resized(2, given);
  EXPECT_EQ(all.new_name(rank_id(0), 1), object_id(rank_id(0), 1));
  EXPECT_EQ(all.new_name(rank_id(1), 41), object_id(rank_id(1), 41));
  EXPECT_DEATH(static_cast<void>(all.new_name(rank_id(1), 40)), "given twice");
}

TEST(scrambled_homes, give_each_name_once_and_a_new_object_the_home_that_made_it) {
  constexpr std::uint32_t ranks = 5;
  const homes all(rank_id(0), ranks, std::make_shared<scrambled_homes>(ranks, 3));
  EXPECT_EQ(all.births(), 2 * ranks);
  std::set<object_id> names;
  std::size_t at_birth = 0, of_no_rank = 0;
  for (std::uint64_t index = 1; index <= 1000; ++index) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      const object_id id = all.new_name(rank_id(rank), index);
      EXPECT_TRUE(names.insert(id).second);
      EXPECT_TRUE(all.knows(id));
      EXPECT_EQ(all.home_of(id), rank_id(rank));
      at_birth += id.birth() == rank_id(rank) ? 1U : 0U;
      of_no_rank += id.birth().value() >= ranks ? 1U : 0U;
    }
  }
  EXPECT_LT(at_birth, names.size() / 3) << "homes are not births";
  EXPECT_EQ(of_no_rank, names.size() / 2) << "births are no ranks";
  EXPECT_FALSE(all.knows(object_id(rank_id(2 * ranks), 1)));
}

TEST(scrambled_homes, give_a_block_of_names_one_home_and_differ_by_the_seed) {
  constexpr std::uint32_t ranks = 4;
  const scrambled_homes one(ranks, 1), other(ranks, 2);
  std::size_t different = 0;
  for (std::uint64_t number = 0; number < 1600; ++number) {
    const object_id id = named_element(1, number), first = named_element(1, number / names_a_block * names_a_block);
    EXPECT_EQ(one.home_of(id), one.home_of(first));
    different += one.home_of(id) != other.home_of(id) ? 1U : 0U;
  }
  EXPECT_GT(different, 800U);
}

}  // namespace
}  // namespace nacre
