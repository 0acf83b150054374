// SPDX-License-Identifier: Apache-2.0
// Containers on threads and on simulated machines with many seeds, and the table that holds their elements.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <nacre/containers/bag.hpp>
#include <nacre/containers/counting_set.hpp>
#include <nacre/containers/disjoint_set.hpp>
#include <nacre/containers/map.hpp>
#include <nacre/containers/multimap.hpp>
#include <nacre/containers/table.hpp>
#include <nacre/nacre.hpp>

#include "base/sanitized.hpp"
#include "scenarios/scenarios.hpp"

namespace nacre::tests {
namespace {

void run_all(config configuration, std::uint64_t seed) {
  configuration.set("balancer", "none");
  ASSERT_EQ(run(configuration,
                [&](runtime& rt) {
                  for (const auto scenarios : {container_scenarios(), counting_set_scenarios()}) {
                    for (const scenario& each : scenarios) each.run(rt, seed), rt.wait_quiescence();
                  }
                }),
            0);
}

TEST(containers, agree_with_a_model_on_threads) {
  for (const char* ranks : {"1", "2", "3"}) {
    for (const char* workers : {"1", "2"}) {
      config configuration;
      configuration.set("ranks", ranks);
      configuration.set("workers", workers);
      run_all(configuration, 7);
      ASSERT_FALSE(HasFailure()) << ranks << " ranks of " << workers << " workers";
    }
  }
}

TEST(containers, agree_with_a_model_on_simulated_ranks) {
  const auto seeds = static_cast<int>(rounds_in_one_thread(40));
  for (int seed = 1; seed <= seeds; ++seed) {
    config configuration;
    configuration.set("transport", "sim");
    configuration.set("ranks", std::to_string(1 + seed % 6));
    configuration.set("workers", std::to_string(1 + seed % 3));
    configuration.set("seed", std::to_string(seed));
    configuration.set("sim.jitter", "3");
    configuration.set("aggregate", seed % 2 == 0 ? "on" : "auto");
    if (seed % 4 == 0) configuration.set("receive_memory", "4KiB");
    run_all(configuration, static_cast<std::uint64_t>(seed));
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

TEST(containers, slow_main_down_where_memory_is_scarce) {
  config configuration;
  configuration.set("ranks", "2");
  configuration.set("receive_memory", "64KiB");
  ASSERT_EQ(run(configuration,
                [](runtime& rt) {
                  nacre::counting_set<std::uint64_t> numbers(rt);
                  for (std::uint64_t i = 0; i < 200'000; ++i) numbers.insert(i);
                  rt.wait_quiescence();
                  EXPECT_EQ(numbers.size(), 200'000U);
                  EXPECT_EQ(numbers.count_all(), 400'000U);
                }),
            0);
}

TEST(containers, refuse_collectives_in_handlers) {
  config configuration;
  configuration.set("ranks", "2");
  static counting_set<int>* of_rank_0 = nullptr;
  ASSERT_EQ(run(configuration,
                [](runtime& rt) {
                  counting_set<int> numbers(rt);
                  if (rt.rank().value() == 0) of_rank_0 = &numbers;
                  rt.barrier();
                  if (rt.rank().value() == 0) {
                    EXPECT_THROW(rt.call(rank_id(0), [] { return of_rank_0->size(); }).get(), call_error);
                  }
                }),
            0);
}

TEST(containers, of_different_kinds_on_two_ranks_are_told_as_such) {
  config configuration;
  configuration.set("ranks", "2");
  EXPECT_EQ(run(configuration,
                [](runtime& rt) {
                  std::string told;
                  try {
                    if (rt.rank().value() == 0) {
                      const bag<int> numbers(rt);
                    } else {
                      const counting_set<int> numbers(rt);
                    }
                  } catch (const usage_error& error) {
                    told = error.what();
                  }
                  EXPECT_NE(told.find("the ranks make different containers"), std::string::npos) << told;
                }),
            0);
}

TEST(short_text, keeps_and_tells_apart_every_text) {
  rng random(11);
  std::vector<std::string> texts;
  for (std::size_t length = 0; length <= detail::short_text::size_max; ++length) {
    for (int i = 0; i < 20; ++i) {
      std::string text(length, '\0');
      for (char& each : text) each = "\0a\xff"[random.below(3)];
      texts.push_back(text);
    }
  }
  for (const std::string& a : texts) {
    const detail::short_text kept(a.data(), a.size());
    char room[detail::short_text::size_max];
    EXPECT_EQ(kept.write(room), a);
    for (const std::string& b : texts) EXPECT_EQ(kept == detail::short_text(b.data(), b.size()), a == b);
  }
}

struct corner {
  int x = 0, y = 0;
  friend bool operator==(const corner&, const corner&) = default;
  friend bool operator<(const corner& a, const corner& b) { return std::pair(a.x, a.y) < std::pair(b.x, b.y); }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(x, y);
  }
};

TEST(containers, take_keys_of_classes_and_of_sequences_without_a_hash_of_the_program) {
  config configuration;
  configuration.set("ranks", "3");
  ASSERT_EQ(run(configuration,
                [](runtime& rt) {
                  map<corner, int> corners(rt);
                  map<std::vector<int>, int> paths(rt);
                  map<std::array<int, 3>, int> cells(rt);
                  map<index, int> places(rt);
                  for (int n = 0; n < 50; ++n) {
                    corners.visit(corner{n, -n}, [](const corner&, int& value) { ++value; });
                    paths.visit({n, n + 1}, [](const std::vector<int>&, int& value) { ++value; });
                    cells.visit({n, 0, 1}, [](const std::array<int, 3>&, int& value) { ++value; });
                    places.visit(index(n, 2), [](const index&, int& value) { ++value; });
                  }
                  rt.wait_quiescence();
                  EXPECT_EQ(corners.size(), 50U);
                  EXPECT_EQ(corners.find({7, -7}), std::optional<int>(3));
                  EXPECT_EQ(paths.find({7, 8}), std::optional<int>(3));
                  EXPECT_EQ(cells.find({7, 0, 1}), std::optional<int>(3));
                  EXPECT_EQ(places.find(index(7, 2)), std::optional<int>(3));
                }),
            0);
}

/// Ranks share a bag's elements out also where each inserts few.
TEST(bags, that_get_few_elements_from_each_rank_use_all_ranks) {
  config configuration;
  configuration.set("transport", "sim");
  configuration.set("ranks", "16");
  ASSERT_EQ(run(configuration,
                [](runtime& rt) {
                  bag<int> numbers(rt);
                  for (int n = 0; n < 24; ++n) numbers.insert(n);
                  rt.wait_quiescence();
                  EXPECT_EQ(numbers.size(), 16U * 24);
                  EXPECT_LE(numbers.local_size(), 2U * 24);
                  EXPECT_GE(numbers.local_size(), 12U);
                }),
            0);
}

TEST(containers, that_are_constant_are_read_and_tell_their_first_elements) {
  config configuration;
  configuration.set("ranks", "2");
  ASSERT_EQ(run(configuration,
                [](runtime& rt) {
                  map<int, std::string> words(rt);
                  multimap<int, int> pairs(rt);
                  bag<int> numbers(rt);
                  for (int n = 0; n < 100; ++n) {
                    words.insert(n, std::to_string(1000 + n));
                    if (rt.rank() == rank_id(0)) pairs.insert(n % 7, n);
                    if (rt.rank() == rank_id(0)) numbers.insert(n);
                  }
                  rt.wait_quiescence();
                  std::uint64_t local_count = 0;
                  std::as_const(words).for_all([&](const int&, const std::string&) { ++local_count; });
                  std::as_const(pairs).for_all([&](const int&, const int&) { ++local_count; });
                  std::as_const(numbers).for_all([&](const int&) { ++local_count; });
                  EXPECT_EQ(rt.all_reduce(local_count, std::plus<>{}), 300U);
                  using first_words = std::vector<std::pair<int, std::string>>;
                  EXPECT_EQ(words.top(2), (first_words{{99, "1099"}, {98, "1098"}}));
                  const auto by_key = [](const auto& a, const auto& b) { return a.first < b.first; };
                  EXPECT_EQ(words.top(2, by_key), (first_words{{0, "1000"}, {1, "1001"}}));
                  EXPECT_EQ(pairs.top(2), (std::vector<std::pair<int, int>>{{99 % 7, 99}, {98 % 7, 98}}));
                  EXPECT_EQ(pairs.reduce(std::plus<>{}), 4950);
                  EXPECT_EQ(numbers.top(3), (std::vector<int>{99, 98, 97}));
                  EXPECT_EQ(numbers.top(1000).size(), 100U);
                  EXPECT_TRUE(numbers.top(0).empty());
                }),
            0);
}

TEST(containers, of_sets_find_one_representative_for_all_items_of_a_large_set) {
  for (const char* const ranks : {"1", "5"}) {
    config configuration;
    configuration.set("transport", "sim");
    configuration.set("ranks", ranks);
    ASSERT_EQ(run(configuration,
                  [](runtime& rt) {
                    constexpr int items = 2000;
                    disjoint_set<int> sets(rt);
                    const int size = static_cast<int>(rt.size()), rank = static_cast<int>(rt.rank().value());
                    for (int n = rank + 1; n < items; n += size) sets.union_(n, n - 1 - n % 3 % n);
                    rt.wait_quiescence();
                    EXPECT_EQ(sets.num_sets(), 1U);
                    sets.insert(items + rank);
                    rt.wait_quiescence();
                    EXPECT_EQ(sets.num_sets(), 1 + rt.size());
                    if (rank == 0) sets.union_(items, 0);
                    rt.wait_quiescence();
                    EXPECT_EQ(sets.num_sets(), rt.size());
                    EXPECT_EQ(sets.find(items), sets.find(17));
                    EXPECT_EQ(sets.size(), items + rt.size());
                  }),
              0);
  }
}

/// What is erased gives its memory back; the elements that stay are found.
TEST(flat_table, finds_all_that_is_left_when_most_has_been_erased) {
  detail::flat_table<std::uint64_t, std::uint64_t> under_test;
  constexpr std::uint64_t most = 100'000;
  for (std::uint64_t key = 0; key < most; ++key)
    under_test.find_or_add(detail::hash_of(key), key).first->value = 2 * key;
  for (std::uint64_t key = 0; key < most; ++key) {
    if (key % 97 == 0) continue;
    ASSERT_TRUE(under_test.erase(detail::hash_of(key), key));
  }
  EXPECT_LT(under_test.elements().capacity(), most / 4);
  for (std::uint64_t key = 0; key < most; ++key) {
    const auto* const element = under_test.find(detail::hash_of(key), key);
    ASSERT_EQ(element != nullptr, key % 97 == 0);
    EXPECT_TRUE(element == nullptr || element->value == 2 * key);
  }
  for (std::uint64_t key = 0; key < most; ++key)
    EXPECT_EQ(under_test.find_or_add(detail::hash_of(key), key).second, key % 97 != 0);
}

TEST(flat_table, holds_what_a_map_holds) {
  detail::flat_table<std::string, int> under_test;
  std::unordered_map<std::string, int> model;
  rng random(3);
  for (int i = 0; i < static_cast<int>(rounds_in_one_thread(200'000)); ++i) {
    const std::string key = std::to_string(random.below(3000));
    // Few different hashes, so that searches are long and many elements have equal ones.
    const std::uint64_t hash = detail::hash_of(key) % 700;
    if (random.below(3) == 0) {
      ASSERT_EQ(under_test.erase(hash, key), model.erase(key) != 0);
    } else {
      const auto [entry, is_new] = under_test.find_or_add(hash, key);
      ASSERT_EQ(is_new, model.emplace(key, i).second);
      if (is_new) entry->value = i;
    }
    ASSERT_EQ(under_test.size(), model.size());
  }
  for (const auto& [key, value] : model) {
    const auto* const entry = under_test.find(detail::hash_of(key) % 700, key);
    ASSERT_NE(entry, nullptr);
    EXPECT_EQ(entry->value, value);
  }
}

}  // namespace
}  // namespace nacre::tests
