// SPDX-License-Identifier: Apache-2.0
// Containers on threads and on simulated machines with many seeds, and the table that holds their elements.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include <nacre/containers/bag.hpp>
#include <nacre/containers/counting_set.hpp>
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
