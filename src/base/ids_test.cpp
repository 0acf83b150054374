// SPDX-License-Identifier: Apache-2.0
// The promises of the typed ids, each as a sentence.
#include <nacre/ids.hpp>

#include <set>
#include <type_traits>
#include <unordered_set>

#include <gtest/gtest.h>

namespace nacre {
namespace {

static_assert(!std::is_convertible_v<std::uint32_t, rank_id>, "a number becomes an id only on purpose");
static_assert(!std::is_constructible_v<worker_id, rank_id>, "a rank is no worker");
static_assert(std::is_trivially_copyable_v<rank_id> && sizeof(rank_id) == 4);
static_assert(std::is_trivially_copyable_v<object_id> && sizeof(object_id) == 8);

TEST(typed_id, is_made_from_a_number_of_any_type_but_not_by_itself) {
  for (int number = 0; number < 3; ++number) {
    EXPECT_EQ(rank_id{number}.value(), static_cast<std::uint32_t>(number));
    EXPECT_EQ(rank_id{std::size_t{7}}, rank_id(7));
  }
  static_assert(!std::is_convertible_v<int, rank_id> && !std::is_convertible_v<std::uint32_t, rank_id>);
  static_assert(!std::is_constructible_v<rank_id, worker_id>);
}

TEST(typed_id, starts_at_zero_and_compares_by_value) {
  EXPECT_EQ(rank_id{}, rank_id{0});
  EXPECT_LT(rank_id{1}, rank_id{2});
  EXPECT_EQ(handler_id{7}.value(), 7U);
}

TEST(object_id, keeps_birth_and_index_up_to_their_largest_values) {
  const object_id id(rank_id{object_id::home_max}, object_id::index_max);
  EXPECT_EQ(id.birth(), rank_id{(1U << 24) - 1});
  EXPECT_EQ(id.index(), (std::uint64_t{1} << 40) - 1);
  EXPECT_EQ(object_id::from_value(id.value()), id);
}

TEST(object_id, is_invalid_only_when_nothing_was_created) {
  EXPECT_FALSE(object_id{}.valid());
  EXPECT_TRUE(object_id(rank_id{0}, 1).valid());
}

TEST(object_id, orders_by_birth_first) { EXPECT_LT(object_id(rank_id{1}, 99), object_id(rank_id{2}, 1)); }

TEST(object_id_death_test, refuses_what_does_not_fit) {
  EXPECT_DEATH(object_id(rank_id{1U << 24}, 1), "24 bits");
  EXPECT_DEATH(object_id(rank_id{0}, std::uint64_t{1} << 40), "40 bits");
  EXPECT_DEATH(object_id(rank_id{0}, 0), "starts at 1");
}

TEST(object_id, consecutive_ids_spread_over_the_low_bits_of_their_hashes) {
  std::set<std::size_t> buckets;
  for (std::uint64_t index = 1; index <= 256; ++index) {
    buckets.insert(std::hash<object_id>{}(object_id(rank_id{3}, index)) % 256);
  }
  EXPECT_GT(buckets.size(), 128U);
  std::unordered_set<object_id> set{object_id(rank_id{1}, 1), object_id(rank_id{1}, 1), object_id(rank_id{2}, 1)};
  EXPECT_EQ(set.size(), 2U);
}

}  // namespace
}  // namespace nacre
