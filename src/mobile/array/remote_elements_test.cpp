// SPDX-License-Identifier: Apache-2.0
// A rank numbers its messages to elements elsewhere, and knows which of them have an entry, until their array ends.
#include "mobile/array/remote_elements.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

#include "base/epoch.hpp"

namespace nacre {
namespace {

constexpr std::uint64_t block = remote_elements::block_size;

object_id element(std::uint64_t number, std::uint32_t home = 1) {
  return {rank_id(home), object_id::first_element + number};
}

std::uint32_t next_number(remote_elements& remote_elements, object_id id) {
  return remote_elements.find_or_add(id).next_sequence().fetch_add(1);
}

TEST(remote_elements, numbers_the_messages_to_each_element_from_0) {
  epoch_domain readers;
  remote_elements known(readers);
  for (std::uint32_t round = 0; round < 3; ++round) {
    for (std::uint64_t each = block; each < 1000; ++each) {
      ASSERT_EQ(next_number(known, element(each, static_cast<std::uint32_t>(each % 5))), round) << each;
    }
  }
  EXPECT_TRUE(known.has_sent_to(element(block)));
  EXPECT_FALSE(known.has_sent_to(element(5000)));
  EXPECT_FALSE(known.has_sent_to(object_id(rank_id(1), 70))) << "no element of an array";
}

TEST(remote_elements, an_entry_is_noted_for_one_element_and_changes_no_number) {
  epoch_domain readers;
  remote_elements known(readers);
  static_cast<void>(next_number(known, element(100)));
  known.find_or_add(element(100)).note_entry();
  for (std::uint64_t each = block; each < 3 * block; ++each) {
    EXPECT_EQ(known.find_or_add(element(each)).has_entry(), each == 100) << each;
  }
  EXPECT_EQ(next_number(known, element(100)), 1U);
}

/// Forgets an array of so many elements, to three blocks of which messages have been sent; and to 100 of another one.
void forgets_an_array_of(std::uint64_t elements) {
  epoch_domain readers;
  remote_elements known(readers);
  constexpr std::uint64_t first = 200 * block, sent = 3 * block - 5;
  for (std::uint64_t each = first - 100 * block; each < first + sent; ++each) {
    static_cast<void>(next_number(known, element(each)));
  }
  for (const std::uint64_t each : {first - 1, first, first + block + 2}) known.find_or_add(element(each)).note_entry();
  std::vector<std::pair<void*, void (*)(void*)>> retired;
  std::vector<object_id> with_entry;
  known.forget(
      object_id::first_element + first, elements, [&](std::uint64_t number) { return element(first + number); },
      [&](object_id id) {
        EXPECT_TRUE(known.find(id)) << "its entry goes first";
        with_entry.push_back(id);
      },
      [&](void* gone, void (*destroy)(void*)) { retired.emplace_back(gone, destroy); });
  std::sort(with_entry.begin(), with_entry.end());
  EXPECT_EQ(with_entry, (std::vector{element(first), element(first + block + 2)}));
  EXPECT_EQ(retired.size(), 3U);
  EXPECT_TRUE(known.has_sent_to(element(first - 1))) << "of the array before";
  EXPECT_FALSE(known.has_sent_to(element(first)));
  EXPECT_FALSE(known.has_sent_to(element(first + sent - 1)));
  for (const auto& [gone, destroy] : retired) destroy(gone);
}

TEST(remote_elements, forgets_the_elements_of_one_array) { forgets_an_array_of(3 * block - 5); }
TEST(remote_elements, forgets_an_array_with_many_more_elements_than_it_has_sent_to) {
  forgets_an_array_of(std::uint64_t{1} << 38);
}
TEST(remote_elements, a_name_with_a_wrong_home_takes_no_number_of_the_right_one) {
  epoch_domain readers;
  remote_elements known(readers);
  static_cast<void>(next_number(known, element(100, 1)));
  EXPECT_EQ(next_number(known, element(100, 2)), 0U);
  EXPECT_EQ(next_number(known, element(100, 1)), 1U);
}

TEST(remote_elements, threads_that_send_to_the_same_elements_share_out_the_numbers) {
  constexpr std::uint64_t elements = 500, rounds = 200;
  constexpr int threads = 4;
  epoch_domain readers;
  remote_elements known(readers);
  std::vector<std::atomic<std::uint64_t>> sums(elements);
  const auto send = [&](int thread) {
    epoch_domain::participant participant(readers);
    for (std::uint64_t round = 0; round < rounds; ++round) {
      for (std::uint64_t each = 0; each < elements; ++each) {
        const object_id id = element(block + each);
        sums[each] += next_number(known, id);
        if (each % threads == static_cast<std::uint64_t>(thread)) known.find_or_add(id).note_entry();
      }
      participant.quiescent();
    }
  };
  std::vector<std::thread> all;
  for (int each = 0; each < threads; ++each) all.emplace_back(send, each);
  for (std::thread& each : all) each.join();
  constexpr std::uint64_t numbers = threads * rounds;
  for (std::uint64_t each = 0; each < elements; ++each) {
    ASSERT_EQ(sums[each], numbers * (numbers - 1) / 2) << each;
    ASSERT_TRUE(known.find_or_add(element(block + each)).has_entry()) << each;
  }
}

}  // namespace
}  // namespace nacre
