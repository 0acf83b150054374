// SPDX-License-Identifier: Apache-2.0
// The two bounded lists of location management.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include <nacre/archive.hpp>

#include "mobile/entry/subscribers.hpp"
#include "mobile/location/forwarding_list.hpp"

namespace nacre {
namespace {

subscribers joined(std::uint32_t first, std::uint32_t count) {
  subscribers all;
  for (std::uint32_t rank = first; rank < first + count; ++rank) all.join(rank_id(rank));
  return all;
}

TEST(subscribers, when_there_are_too_many_the_first_leaves) {
  const subscribers all = joined(0, subscribers::count_max + 2);
  ASSERT_EQ(all.all().size(), subscribers::count_max);
  EXPECT_EQ(all.all().front(), rank_id(2));
  EXPECT_EQ(all.all().back(), rank_id(subscribers::count_max + 1));
}

TEST(subscribers, who_joins_again_becomes_the_latest) {
  subscribers all = joined(0, 3);
  all.join(rank_id(0));
  ASSERT_EQ(all.all().size(), 3U);
  EXPECT_EQ(all.all().back(), rank_id(0));
}

TEST(subscribers, of_a_peer_are_few_known_and_different) {
  const auto sound = [](const std::vector<rank_id>& sent) {
    const std::vector<std::byte> bytes = pack(sent);
    reader in(bytes);
    subscribers taken;
    in(taken);
    return in.finish() && taken.sound(32);
  };
  EXPECT_TRUE(sound({}));
  EXPECT_TRUE(sound({rank_id(31), rank_id(0)}));
  EXPECT_FALSE(sound({rank_id(32)}));
  EXPECT_FALSE(sound({rank_id(5), rank_id(6), rank_id(5)}));
  const subscribers all = joined(0, subscribers::count_max);
  std::vector<rank_id> many(all.all().begin(), all.all().end());
  EXPECT_TRUE(sound(many));
  many.emplace_back(20);
  EXPECT_FALSE(sound(many));
}

TEST(forwarding_list, gives_out_the_oldest_as_soon_as_it_is_too_long) {
  forwarding_list list(2);
  const auto name = [](std::uint64_t index) { return object_id(rank_id(1), index); };
  EXPECT_FALSE(list.add(name(1))[0].valid());
  EXPECT_FALSE(list.add(name(2))[0].valid());
  const auto given = list.add(name(3));
  EXPECT_EQ(given[0], name(1));
  EXPECT_FALSE(given[1].valid());
  list.put_back(name(1));
  list.put_back(name(4));
  EXPECT_EQ(list.size(), 4U);
  const auto two = list.add(name(5));  // two out for one in, so that the list gets shorter
  EXPECT_EQ(two[0], name(2));
  EXPECT_EQ(two[1], name(3));
  EXPECT_EQ(list.size(), 3U);
}

TEST(forwarding_list, knows_which_homes_have_been_asked_and_takes_one_answer_for_each_question) {
  forwarding_list list(2);
  const object_id one(rank_id(1), 1), other(rank_id(1), 2);
  EXPECT_FALSE(list.end_asking(one));
  list.note_asked(one);
  list.note_asked(one);
  EXPECT_FALSE(list.end_asking(other));
  EXPECT_TRUE(list.end_asking(one));
  EXPECT_TRUE(list.end_asking(one));
  EXPECT_FALSE(list.end_asking(one));
}

}  // namespace
}  // namespace nacre
