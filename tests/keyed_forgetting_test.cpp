// SPDX-License-Identifier: Apache-2.0
// Sparse keyed arrays forget the keys whose elements have ended: nothing is lost meanwhile, and memory follows the keys
// that are alive.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <nacre/nacre.hpp>
#include <nacre/rng.hpp>

#include "base/sanitized.hpp"
#include "drawn_machine.hpp"
#include "small_jobs.hpp"

namespace nacre::tests {
namespace {

/// An element of a key that comes and goes.
struct guest {
  std::uint64_t heard = 0, wrong = 0;
  void hear(std::uint64_t number) { wrong += number == heard++ ? 0U : 1U; }
  std::uint64_t one() const { return 1; }
  std::uint64_t leave_taking() const { return wrong == 0 ? heard : ~std::uint64_t{0}; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(heard, wrong);
  }
};

/// Keys of this rank get elements and lose them, without waiting in between; other ranks ask for them at any time; keys
/// that are used once make the homes forget.
void coming_and_going_main(runtime& rt, std::uint64_t seed) {
  rng random = rng(seed).fork(100 + rt.rank().value());
  const auto all = rt.create_array<guest>(keyed_by<std::uint64_t>{}, sparse);
  std::vector<future<void>> done;
  std::vector<std::pair<future<std::uint64_t>, std::uint64_t>> lives;  // with the messages of each life
  std::vector<future<std::uint64_t>> strangers, sums;
  std::uint64_t fresh = 1000000 * (rt.rank().value() + 1);
  for (int round = 0; round < 60; ++round) {
    const std::uint64_t key = 10 * rt.rank().value() + random.below(3);
    const std::uint64_t messages = random.below(4);
    done.push_back(rt.insert(all, key));
    for (std::uint64_t each = 0; each < messages; ++each) rt.send<&guest::hear>(all[key], each);
    lives.emplace_back(rt.call<&guest::leave_taking>(all[key]), messages);
    done.push_back(rt.erase(all, key));
    for (std::uint64_t each = random.below(12); each > 0; --each) {
      done.push_back(rt.insert(all, ++fresh));
      done.push_back(rt.erase(all, fresh));
    }
    strangers.push_back(rt.call<&guest::leave_taking>(all[10 * random.below(rt.size()) + random.below(3)]));
    if (random.below(8) == 0) sums.push_back(rt.reduce<&guest::one>(all, std::plus<>{}));
    if (random.below(3) == 0) lives.back().first.wait();
  }
  rt.wait_quiescence();
  for (auto& each : done) EXPECT_NO_THROW(each.get());
  for (auto& [life, messages] : lives) EXPECT_EQ(life.get(), messages);
  for (auto& each : strangers) {
    try {
      EXPECT_LT(each.get(), 4U);
    } catch (const call_error&) {  // the key had no element
    }
  }
  for (auto& each : sums) {
    try {
      EXPECT_GT(each.get(), 0U);
    } catch (const call_error& none) {
      EXPECT_STREQ(none.what(), "the array has no element");
    }
  }
  if (rt.rank().value() == 0) {
    EXPECT_THROW(static_cast<void>(rt.reduce<&guest::leave_taking>(all, std::plus<>{}).get()), call_error);
  }
  rt.barrier();
  rt.destroy(all);
}

/// The array ends while keys come and go, and are forgotten.
void ending_main(runtime& rt, std::uint64_t seed) {
  rng random = rng(seed).fork(100 + rt.rank().value());
  const auto all = rt.create_array<guest>(keyed_by<std::uint64_t>{}, sparse);
  std::vector<future<void>> done;
  std::uint64_t fresh = 1000000 * (rt.rank().value() + 1);
  for (std::uint64_t each = 100 + random.below(300); each > 0; --each) {
    done.push_back(rt.insert(all, ++fresh));
    done.push_back(rt.erase(all, fresh));
    if (random.below(30) == 0) done.back().wait();
  }
  rt.destroy(all);
  for (auto& each : done) {
    try {
      each.get();
    } catch (const call_error&) {  // the array has ended before
    }
  }
}

TEST(keyed_forgetting, the_array_may_end_meanwhile) {
  for (std::uint64_t seed = 1; seed <= rounds_in_one_thread(200); ++seed) {
    run_simulated(drawn_machine(seed), [&](runtime& rt) { ending_main(rt, seed); });
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

TEST(keyed_forgetting, lose_nothing_while_keys_are_forgotten) {
  const char* const seeds = std::getenv("NACRE_KEYED_SEEDS");
  const std::uint64_t last = seeds != nullptr ? std::strtoull(seeds, nullptr, 10) : rounds_in_one_thread(200);
  for (std::uint64_t seed = 1; seed <= last; ++seed) {
    run_simulated(drawn_machine(seed), [&](runtime& rt) { coming_and_going_main(rt, seed); });
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

TEST(keyed_forgetting, lose_nothing_while_keys_are_forgotten_on_threads) {
  config configuration;
  configuration.set("ranks", "3");
  configuration.set("workers", "2");
  for (std::uint64_t seed = 1; seed <= (sanitized ? 3U : 20U); ++seed) {
    EXPECT_EQ(run(configuration, [&](runtime& rt) { coming_and_going_main(rt, seed); }), 0);
  }
}

/// Messages to keys without elements, more than the homes have places, of all kinds and from all ranks.
void missing_main(runtime& rt) {
  constexpr std::uint64_t keys = 400;
  const auto all = rt.create_array<guest>(keyed_by<std::uint64_t>{.keys_max = 100 * std::uint64_t{rt.size()}}, sparse);
  std::atomic<std::uint64_t> reported{0};
  std::string told;
  rt.on_delivery_error([&](const delivery_error& error) {
    EXPECT_FALSE(error.object.valid());
    if (reported++ == 0) told = error.why;
  });
  rt.barrier();
  std::vector<future<std::uint64_t>> calls;
  std::vector<future<void>> erasures;
  for (std::uint64_t key = 0; key < keys; ++key) {
    calls.push_back(rt.call<&guest::one>(all[key]));
    rt.send<&guest::hear>(all[key], std::uint64_t{0});
    erasures.push_back(rt.erase(all, key));
  }
  for (auto& each : calls) EXPECT_THROW(static_cast<void>(each.get()), absent_error);
  for (auto& each : erasures) EXPECT_THROW(each.get(), absent_error);
  rt.wait_quiescence();
  EXPECT_EQ(reported, keys);
  EXPECT_EQ(told.rfind("key ", 0), 0U) << told;
  EXPECT_NE(told.find(" of array 1 ("), std::string::npos) << told;
  EXPECT_NE(told.find(") has no element"), std::string::npos) << told;
  for (std::uint64_t each = 0; each < 10; ++each) {  // there are places for insertions
    const std::uint64_t key = 10 * rt.rank().value() + each;
    rt.insert(all, key).get();
    EXPECT_EQ(rt.call<&guest::one>(all[key]).get(), 1U);
  }
  rt.barrier();
  rt.destroy(all);
}

TEST(keyed_forgetting, keys_that_are_looked_up_in_vain_take_no_places) {
  for (std::uint64_t seed = 1; seed <= rounds_in_one_thread(20); ++seed) {
    run_simulated(drawn_machine(seed), missing_main);
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
  config configuration;
  configuration.set("ranks", "3");
  configuration.set("workers", "2");
  EXPECT_EQ(run(configuration, missing_main), 0);
}

/// Ranks look for a key while one of them inserts it; from the barrier behind the insertion on all find it, though
/// earlier questions for it are still being answered.
void looking_main(runtime& rt, std::uint64_t seed) {
  rng random = rng(seed).fork(100 + rt.rank().value());
  const auto all = rt.create_array<guest>(keyed_by<std::uint64_t>{}, sparse);
  std::vector<future<std::uint64_t>> early;
  for (std::uint64_t round = 0; round < 20; ++round) {
    const std::uint64_t key = rng(seed).fork(round).below(3), inserting = round % rt.size();
    for (std::uint64_t each = random.below(4); each > 0; --each) early.push_back(rt.call<&guest::one>(all[key]));
    if (rt.rank().value() == inserting) rt.insert(all, key).get();
    rt.barrier();
    try {
      EXPECT_EQ(rt.call<&guest::one>(all[key]).get(), 1U);
    } catch (const absent_error&) {
      ADD_FAILURE() << "an insertion had ended before";
    }
    rt.barrier();
    if (rt.rank().value() == (inserting + 1) % rt.size()) rt.erase(all, key).get();
    rt.barrier();
  }
  for (auto& each : early) {
    try {
      EXPECT_EQ(each.get(), 1U);
    } catch (const absent_error&) {  // it came before the insertion
    }
  }
  rt.barrier();
  rt.destroy(all);
}

TEST(keyed_forgetting, messages_behind_an_insertion_find_its_element) {
  for (std::uint64_t seed = 1; seed <= rounds_in_one_thread(300); ++seed) {
    run_simulated(drawn_machine(seed), [&](runtime& rt) { looking_main(rt, seed); });
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
  config configuration;
  configuration.set("ranks", "3");
  configuration.set("workers", "2");
  for (std::uint64_t seed = 1; seed <= (sanitized ? 3U : 20U); ++seed)
    EXPECT_EQ(run(configuration, [&](runtime& rt) { looking_main(rt, seed); }), 0);
}

}  // namespace
}  // namespace nacre::tests
