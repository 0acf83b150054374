// SPDX-License-Identifier: Apache-2.0
// The promises of next_hop, each as a sentence.
#include "mobile/location/next_hop.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace nacre {
namespace {

constexpr std::uint32_t hops_before_home = 3;
constexpr std::uint32_t job_size = 8;
const object_id object_of_rank_5(rank_id(5), 1);

rank_id next(std::uint32_t self, const known_location& location, message_header& header) {
  const homes homes(rank_id(self), job_size);
  const object_entry entry(object_of_rank_5, location, nullptr);
  return next_hop(rank_id(self), homes, hops_before_home).of(entry, location, header);
}

TEST(next_hop, is_the_believed_rank_and_the_message_learns_the_epoch) {
  message_header header;
  header.epoch = 4;
  EXPECT_EQ(next(2, {rank_id(7), 9}, header), rank_id(7));
  EXPECT_EQ(header.epoch, 9U);
  EXPECT_EQ(next(2, {rank_id(6), 3}, header), rank_id(6));
  EXPECT_EQ(header.epoch, 9U) << "a later epoch stays";
}

TEST(next_hop, is_the_home_where_the_policy_says_so_and_after_too_many_hops) {
  message_header header;
  EXPECT_EQ(next(2, {rank_id(7), 9, location_policy::jump_update, true}, header), rank_id(5));
  header.hops = hops_before_home;
  EXPECT_EQ(next(2, {rank_id(7), 9}, header), rank_id(7));
  header.hops = hops_before_home + 1;
  EXPECT_EQ(next(2, {rank_id(7), 9}, header), rank_id(5));
}

TEST(next_hop, is_the_believed_rank_at_the_home_itself) {
  message_header header;
  header.hops = hops_before_home + 1;
  EXPECT_EQ(next(5, {rank_id(7), 9}, header), rank_id(7));
}

}  // namespace
}  // namespace nacre
