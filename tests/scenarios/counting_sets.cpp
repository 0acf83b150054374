// SPDX-License-Identifier: Apache-2.0
// Scenarios of counting sets of text, short and long, against std::map.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nacre/containers/counting_set.hpp>

#include "scenarios.hpp"

namespace nacre::tests {
namespace {

constexpr int inserts_of_each = 600;

rng random_for(std::uint64_t seed, std::uint32_t rank) { return rng(seed * 1000 + rank); }

void words_are_counted(runtime& rt, std::uint64_t seed) {
  nacre::counting_set<std::string> under_test(rt);
  std::map<std::string, std::uint64_t> model;
  for (std::uint32_t rank = 0; rank < rt.size(); ++rank) {
    rng random = random_for(seed, rank);
    for (int i = 0; i < 3 * inserts_of_each; ++i) {
      const std::string word(1 + random.below(40), static_cast<char>('a' + random.below(26)));
      if (rank == rt.rank().value()) under_test.insert(word);
      ++model[word];
    }
  }
  under_test.visit("only visited", [](const std::string&, std::uint64_t& count) { count += 2; });
  model["only visited"] = 2 * rt.size();
  rt.wait_quiescence();
  EXPECT_EQ(under_test.size(), model.size());
  EXPECT_EQ(under_test.count_all(), (3U * inserts_of_each + 2) * rt.size());
  EXPECT_EQ(under_test.count("nobody"), 0U);
  std::vector<std::pair<std::string, std::uint64_t>> expected(model.begin(), model.end());
  std::sort(expected.begin(), expected.end(), detail::ranks_before{});
  expected.resize(7);
  EXPECT_EQ(under_test.top(7), expected);
}

/// Text of up to 24 bytes, of three different ones, so that many begin or end alike. Those of two ranks are different.
std::string text_of_rank(rng& random, std::uint32_t rank) {
  std::string text(random.below(24), '\0');
  for (char& each : text) each = "\0ab"[random.below(3)];
  return text + static_cast<char>('A' + rank);
}

void counts_meet_visits_and_erasures(runtime& rt, std::uint64_t seed) {
  nacre::counting_set<std::string> under_test(rt);
  std::map<std::string, std::uint64_t> model;
  for (std::uint32_t rank = 0; rank < rt.size(); ++rank) {
    rng random = random_for(seed, rank);
    const bool is_own = rank == rt.rank().value();
    std::vector<std::string> keys;
    for (int i = 0; i < 200; ++i) keys.push_back(text_of_rank(random, rank));
    for (int i = 0; i < 8 * inserts_of_each; ++i) {
      const std::string& key = keys[random.below(keys.size())];
      switch (random.below(12)) {
        case 0:
          if (is_own) under_test.erase(key);
          model.erase(key);
          break;
        case 1:
          if (is_own) under_test.visit(key, [](const std::string&, std::uint64_t& count) { count *= 2; });
          model[key] *= 2;
          break;
        default:
          if (is_own) under_test.insert(key);
          ++model[key];
      }
    }
  }
  rt.wait_quiescence();
  std::vector<std::pair<std::string, std::uint64_t>> got = under_test.gather(rank_id(0));
  if (rt.rank().value() != 0) return;
  std::sort(got.begin(), got.end());
  EXPECT_EQ(got, (std::vector<std::pair<std::string, std::uint64_t>>(model.begin(), model.end())));
}

constexpr std::array counting_sets_table{
    scenario{"words_are_counted", words_are_counted},
    scenario{"counts_meet_visits_and_erasures", counts_meet_visits_and_erasures},
};

}  // namespace

std::span<const scenario> counting_set_scenarios() { return counting_sets_table; }

}  // namespace nacre::tests
