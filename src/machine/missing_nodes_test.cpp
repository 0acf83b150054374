// SPDX-License-Identifier: Apache-2.0
// Texts that name missing nodes, and the nodes that shares draw.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <nacre/emulated_machine.hpp>
#include <nacre/error.hpp>
#include <nacre/rng.hpp>

namespace nacre::machine {
namespace {

TEST(missing_nodes, places_are_taken_in_the_order_of_their_numbers) {
  const coordinates grid{3, 4, 5};
  EXPECT_EQ(parse_missing_nodes("1,2,3", grid), (std::vector<coordinates>{{1, 2, 3}}));
  EXPECT_EQ(parse_missing_nodes("0,0,1:2,0,0:0,0,1", grid), (std::vector<coordinates>{{2, 0, 0}, {0, 0, 1}}));
}

TEST(missing_nodes, a_share_draws_so_many_nodes_and_another_number_draws_others) {
  const coordinates grid{34, 34, 36};
  const std::vector<coordinates> first = parse_missing_nodes("1%", grid);
  EXPECT_EQ(first.size(), 416U);
  EXPECT_EQ(first, parse_missing_nodes("1%@1", grid));
  EXPECT_NE(first, parse_missing_nodes("1%@2", grid));
  EXPECT_TRUE(parse_missing_nodes("0%", grid).empty());
  EXPECT_EQ(parse_missing_nodes("29%", {10, 10, 1}).size(), 29U);
  EXPECT_EQ(parse_missing_nodes("2.5%", {10, 10, 10}).size(), 25U);
  // Each octant of the grid has its share.
  const auto near = std::count_if(first.begin(), first.end(), [](const coordinates& place) { return place.x < 17; });
  EXPECT_GT(near, 170);
  EXPECT_LT(near, 246);
}

TEST(missing_nodes, are_the_first_of_all_nodes_in_a_drawn_order) {
  const coordinates grid{7, 5, 3};
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    std::vector<std::uint64_t> numbers(105);
    for (std::uint64_t k = 0; k < numbers.size(); ++k) numbers[k] = k;
    rng random(seed);
    for (std::uint64_t k = 0; k < 52; ++k) std::swap(numbers[k], numbers[k + random.below(105 - k)]);
    numbers.resize(52);
    std::sort(numbers.begin(), numbers.end());
    const std::vector<coordinates> drawn = parse_missing_nodes("50%@" + std::to_string(seed), grid);
    ASSERT_EQ(drawn.size(), numbers.size());
    for (std::size_t k = 0; k < drawn.size(); ++k) {
      EXPECT_EQ(drawn[k], (coordinates{numbers[k] % 7, numbers[k] / 7 % 5, numbers[k] / 35}));
    }
  }
}

TEST(missing_nodes, of_machines_that_cannot_be_are_refused_before_they_are_drawn) {
  const auto refusal_of = [](const coordinates& grid) -> std::string {
    try {
      static_cast<void>(parse_missing_nodes("0.0000001%", grid));
    } catch (const setup_error& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_NE(refusal_of({100'000, 100'000, 100'000}).find("use 2147483648 at most"), std::string::npos);
  EXPECT_NE(refusal_of({2'000'000'000, 2'000'000'000, 1}).find("use 1 to 1048576"), std::string::npos);
  EXPECT_NE(refusal_of({4'294'967'295, 1, 1}).find("use 1 to 1048576"), std::string::npos);
  EXPECT_EQ(parse_missing_nodes("0.000001%", {1024, 1024, 1024}).size(), 10U) << "in no memory to speak of";
}

TEST(missing_nodes, other_texts_are_refused) {
  for (const char* text : {"",      "1",     "1,2",  "1,2,", "1,2,3,4", "1,2,3:", ":1,2,3", "1;2;3", "-1,0,0", "3,0,0",
                           "0,4,0", "0,0,5", "100%", "-1%",  "%",       "nan%",   "1%@",    "1%@x",  "1%@1 ",  "1% "}) {
    try {
      static_cast<void>(parse_missing_nodes(text, {3, 4, 5}));
      ADD_FAILURE() << "'" << text << "' is accepted";
    } catch (const setup_error& error) {
      EXPECT_NE(std::string(error.what()).find("1,2,3:4,5,6"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace nacre::machine
