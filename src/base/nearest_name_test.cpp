// SPDX-License-Identifier: Apache-2.0
// The promises of nearest_name and edit_distance, each as a sentence.
#include <nacre/rng.hpp>

#include "base/nearest_name.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace nacre {
namespace {

/// Computes the distance straight from its definition, in exponential time.
std::size_t distance_by_definition(std::string_view left, std::string_view right) {
  if (left.empty() || right.empty()) return left.size() + right.size();
  const auto shorter = [](std::string_view word, std::size_t step) { return word.substr(0, word.size() - step); };
  std::size_t best = std::min(distance_by_definition(shorter(left, 1), right) + 1,
                              distance_by_definition(left, shorter(right, 1)) + 1);
  const std::size_t last = left.back() == right.back() ? 0 : 1;
  best = std::min(best, distance_by_definition(shorter(left, 1), shorter(right, 1)) + last);
  const bool swapped = left.size() > 1 && right.size() > 1 && left.back() == right[right.size() - 2] &&
                       left[left.size() - 2] == right.back();
  if (swapped) best = std::min(best, distance_by_definition(shorter(left, 2), shorter(right, 2)) + 1);
  return best;
}

TEST(edit_distance, agrees_with_its_definition_on_short_words) {
  rng random(5);
  const auto word = [&random] {
    std::string letters(random.below(6), ' ');
    for (char& letter : letters) letter = static_cast<char>('a' + random.below(3));
    return letters;
  };
  for (int i = 0; i < 300; ++i) {
    const std::string left = word();
    const std::string right = word();
    EXPECT_EQ(edit_distance(left, right), distance_by_definition(left, right)) << left << " " << right;
  }
}

TEST(nearest_name, finds_swapped_missing_and_wrong_letters) {
  constexpr std::array<std::string_view, 3> known{"workers", "transport", "ranks"};
  EXPECT_EQ(nearest_name("transprot", known), "transport");
  EXPECT_EQ(nearest_name("worker", known), "workers");
  EXPECT_EQ(nearest_name("rangs", known), "ranks");
}

TEST(nearest_name, stays_silent_when_a_guess_would_only_confuse) {
  constexpr std::array<std::string_view, 2> known{"tcp", "workers"};
  EXPECT_EQ(nearest_name("colour", known), std::nullopt);
  EXPECT_EQ(nearest_name("sim", known), std::nullopt);
  EXPECT_EQ(nearest_name("", known), std::nullopt);
  EXPECT_EQ(nearest_name("workers", {}), std::nullopt);
}

TEST(nearest_name, of_a_hundred_million_letters_costs_no_more_than_the_known_names_are_long) {
  std::vector<std::string> words;
  for (char first = 'a'; first <= 'z'; ++first) words.push_back(first + std::string("_word_of_thirty_letters_or_so"));
  const std::vector<std::string_view> known(words.begin(), words.end());
  // A comparison letter by letter would take 8e10 steps, too many for a test.
  EXPECT_EQ(nearest_name(std::string(100'000'000, 'x'), known), std::nullopt);
  EXPECT_EQ(nearest_name("q_word_of_thirty_leters_or_so", known), "q_word_of_thirty_letters_or_so");
}

}  // namespace
}  // namespace nacre
