// SPDX-License-Identifier: Apache-2.0
// The choice of an object for a receiver.
#include "balance/balancer/offers.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "balance/balancer/balancer_test_host.hpp"

namespace nacre::balance {
namespace {

std::uint64_t taken(offers& offers, std::uint32_t receiver) { return offers.take(rank_id{receiver}).object.index(); }

object_traffic talk(std::uint64_t target, std::uint32_t position, double messages) {
  return {object(target, 0, 0).object, rank_id{position}, messages, 0};
}

TEST(offers, are_taken_heaviest_first_where_nobody_counts) {
  scripted_host host;
  host.talks[2] = {talk(9, 5, 100)};
  const std::vector<object_load> all = {object(1, 10, 1), object(2, 9, 1), object(3, 1, 1)};
  offers silent(host, all, false);
  for (const std::uint64_t each : {1u, 2u, 3u}) EXPECT_EQ(taken(silent, 5), each);
}

TEST(offers, of_those_about_as_heavy_the_one_goes_that_talks_most_to_the_receiver_and_least_to_those_here) {
  scripted_host host;
  host.talks[1] = {talk(2, 0, 1)};
  host.talks[2] = {talk(1, 0, 1), talk(8, 5, 2)};
  host.talks[3] = {talk(9, 5, 3), talk(7, 6, 50)};
  host.talks[4] = {talk(9, 5, 100)};
  const std::vector<object_load> all = {object(1, 10, 1), object(2, 10, 1), object(3, 8, 1), object(4, 7.9, 1)};
  offers some(host, all, true);
  EXPECT_EQ(taken(some, 5), 3u) << "4 is too light";
  EXPECT_EQ(taken(some, 5), 2u);
  some.note_move(object(2, 0, 0).object, rank_id{5});
  EXPECT_EQ(taken(some, 5), 1u) << "its partner has gone there, and 4 is still too light";
  EXPECT_EQ(taken(some, 5), 4u);
}

TEST(offers, who_follows_whom_is_heeded) {
  scripted_host host;
  host.talks[1] = {talk(2, 0, 1)};
  host.talks[3] = {talk(4, 0, 1)};
  host.talks[4] = {talk(3, 0, 1)};
  const std::vector<object_load> all = {object(3, 1, 1), object(4, 1, 1), object(1, 1, 1), object(2, 1, 1)};
  offers some(host, all, true);
  EXPECT_EQ(taken(some, 5), 2u) << "it talks to nobody";
  some.note_move(object(2, 0, 0).object, rank_id{5});
  EXPECT_EQ(taken(some, 6), 1u) << "its partner has gone, if elsewhere";
  EXPECT_EQ(taken(some, 5), 3u);
  some.note_move(object(3, 0, 0).object, rank_id{5});
  EXPECT_EQ(taken(some, 5), 4u);
}

TEST(offers, a_message_of_16_KiB_is_twice_as_dear_as_an_empty_one) {
  const auto weight = [](double messages, double bytes) {
    return traffic_weight({.partner = {}, .where = {}, .messages = messages, .bytes = bytes});
  };
  EXPECT_EQ(weight(3, 0), 3);
  EXPECT_EQ(weight(3, 3 * 16384), 6);
  EXPECT_EQ(weight(-1, std::nan("")), 0);
}

}  // namespace
}  // namespace nacre::balance
