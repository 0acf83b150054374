// SPDX-License-Identifier: Apache-2.0
// Random programs on arrays whose places are keys, under simulation: every message runs once, in the order of its
// sender, however elements move, and keys that share a hash stay apart. And what is told of misuse.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <ostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <nacre/nacre.hpp>
#include <nacre/rng.hpp>

#include "base/sanitized.hpp"
#include "drawn_machine.hpp"
#include "small_jobs.hpp"

namespace nacre::tests {

/// A key with so few hashes that most keys share theirs.
struct spot {
  std::uint32_t number = 0;
  std::string name;
  friend bool operator==(const spot&, const spot&) = default;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(number, name);
  }
};

/// A key that says how it is written.
struct grade {
  int value = 0;
  friend bool operator==(const grade&, const grade&) = default;
  friend std::ostream& operator<<(std::ostream& out, const grade& grade) { return out << "grade " << grade.value; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(value);
  }
};

}  // namespace nacre::tests

template <>
struct std::hash<nacre::tests::spot> {
  std::size_t operator()(const nacre::tests::spot& spot) const noexcept { return spot.number % 3; }
};
template <>
struct std::hash<nacre::tests::grade> {
  std::size_t operator()(const nacre::tests::grade& grade) const noexcept {
    return static_cast<std::size_t>(grade.value);
  }
};

namespace nacre::tests {
namespace {

spot spot_of(std::uint64_t number) { return {static_cast<std::uint32_t>(number), "spot " + std::to_string(number)}; }

struct place_log;
using spots = keyed_array_ptr<place_log, spot>;

/// An element: it knows its key, and the number of the next message of each stream.
struct place_log {
  spot key;
  std::map<std::uint64_t, std::uint64_t> next{};  // by stream
  std::uint64_t heard = 0, wrong = 0;

  place_log() = default;
  explicit place_log(spot spot) : key(std::move(spot)) {}

  void note(std::uint64_t stream, std::uint64_t number, std::uint64_t target) {
    ++heard;
    if (key != spot_of(target) || next[stream]++ != number) ++wrong;
  }
  void hear(std::uint64_t stream, std::uint64_t number, std::uint64_t target) { note(stream, number, target); }
  std::uint64_t count_one(std::uint64_t stream, std::uint64_t number, std::uint64_t target) {
    note(stream, number, target);
    return heard;
  }
  /// Sends two messages of a stream of its own to another key, and moves on.
  void pass_on(context& ctx, std::uint64_t stream, std::uint64_t number, std::uint64_t target, std::uint64_t rest,
               spots all) {
    note(stream, number, target);
    const std::uint64_t name = (stream << 40) + (number << 20) + (target << 8) + 1;
    for (std::uint64_t each = 0; each < 3; ++each) ctx.send<&place_log::hear>(all[spot_of(rest)], name, each, rest);
    if (number % 3 == 0) ctx.migrate(ctx.self<place_log>(), rank_id(static_cast<std::uint32_t>(target) % ctx.size()));
  }
  std::uint64_t all_heard() const { return heard; }
  std::uint64_t all_wrong() const { return wrong; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(key, next, heard, wrong);
  }
};

void random_main(runtime& rt, std::uint64_t seed) {
  rng random = rng(seed).fork(100 + rt.rank().value());
  const std::uint64_t keys = 1 + rng(seed).fork(4).below(12);
  keyed_by<spot> keyed_by{.keys_max = 1000};
  if (rng(seed).fork(5).below(2) == 0)
    keyed_by.home = [](const spot& subject, std::uint32_t ranks) { return subject.number % ranks; };
  const spots all = rt.create_array<place_log>(keyed_by);
  std::map<std::uint64_t, std::uint64_t> sent;  // by key
  std::vector<future<std::uint64_t>> asked;
  std::uint64_t told = 0;
  for (int action = 0; action < 40; ++action) {
    const std::uint64_t key = random.below(keys), stream = rt.rank().value() + 1;
    switch (random.below(4)) {
      case 0:
        rt.send<&place_log::hear>(all[spot_of(key)], stream, sent[key]++, key);
        break;
      case 1:
        asked.push_back(rt.call<&place_log::count_one>(all[spot_of(key)], stream, sent[key]++, key));
        break;
      case 2:
        rt.send<&place_log::pass_on>(all[spot_of(key)], stream, sent[key]++, key, random.below(keys), all);
        told += 3;
        break;
      default:
        if (!asked.empty()) {
          EXPECT_GT(asked.back().get(), 0U);
          asked.pop_back();
        }
        continue;
    }
    ++told;
  }
  rt.wait_quiescence();
  for (auto& each : asked) EXPECT_GT(each.get(), 0U);
  const std::uint64_t of_all = rt.all_reduce(told, std::plus<>{});
  if (rt.rank().value() == 0) {
    EXPECT_EQ(rt.reduce<&place_log::all_heard>(all, std::plus<>{}).get(), of_all);
    EXPECT_EQ(rt.reduce<&place_log::all_wrong>(all, std::plus<>{}).get(), 0U);
  }
  rt.barrier();
  rt.destroy(all);
}

TEST(keyed_arrays, run_every_message_once_in_order_in_random_programs) {
  const char* const seeds = std::getenv("NACRE_KEYED_SEEDS");
  const std::uint64_t last = seeds != nullptr ? std::strtoull(seeds, nullptr, 10) : sanitized ? 100 : 1000;
  for (std::uint64_t seed = 1; seed <= last; ++seed) {
    run_simulated(drawn_machine(seed), [&](runtime& rt) { random_main(rt, seed); });
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

struct counter {
  std::uint64_t count = 0;
  void add(std::uint64_t step) { count += step; }
  std::uint64_t value() const { return count; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(count);
  }
};

TEST(keyed_arrays, cost_in_proportion_to_the_keys_that_are_used) {
  const std::uint64_t keys = sanitized ? 5000 : 100000;
  config configuration;
  configuration.set("ranks", "2");
  configuration.set("workers", "2");
  EXPECT_EQ(run(configuration,
                [&](runtime& rt) {
                  const auto all = rt.create_array<counter>(keyed_by<std::uint64_t>{});
                  for (std::uint64_t key = 0; key < keys; ++key)
                    rt.send<&counter::add>(all[key * 0x9e3779b97f4a7c15U], key);
                  rt.wait_quiescence();
                  if (rt.rank().value() == 0) {
                    EXPECT_EQ(rt.reduce<&counter::value>(all, std::plus<>{}).get(), keys * (keys - 1));
                  }
                  rt.barrier();
                  rt.destroy(all);
                }),
            0);
}

/// A call of a key whose element is being made when the array ends gets its result or an error; the job goes on.
TEST(keyed_arrays, may_be_destroyed_while_first_messages_are_under_way) {
  for (const char* transport : {"sim", "inproc"}) {
    config configuration;
    configuration.set("transport", transport);
    configuration.set("ranks", "4");
    int ended = 0;
    EXPECT_EQ(run(configuration,
                  [&](runtime& rt) {
                    const auto all = rt.create_array<counter>(keyed_by<std::uint64_t>{});
                    std::vector<future<std::uint64_t>> asked;
                    for (std::uint64_t key = 0; key < 200; ++key) asked.push_back(rt.call<&counter::value>(all[key]));
                    rt.destroy(all);
                    int local_count = 0;
                    for (auto& each : asked) {
                      try {
                        local_count += each.get() == 0 ? 1 : 0;
                      } catch (const call_error&) {
                        ++local_count;
                      }
                    }
                    const int sum = rt.all_reduce(local_count, std::plus<>{});
                    if (rt.rank().value() == 0) ended = sum;
                  }),
              0)
        << transport;
    EXPECT_EQ(ended, 800) << transport;
  }
}

struct listener {
  std::uint64_t next = 0, wrong = 0;
  void hear(std::uint64_t number) { wrong += number == next++ ? 0U : 1U; }
  std::uint64_t all_wrong() const { return wrong + (next == 2000 ? 0 : 1); }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(next, wrong);
  }
};

/// While a worker posts what waits for a key, main sends to it.
TEST(keyed_arrays, keep_the_order_of_main_on_threads) {
  const std::uint64_t keys = sanitized ? 20 : 100;
  config configuration;
  configuration.set("ranks", "2");
  configuration.set("workers", "2");
  EXPECT_EQ(run(configuration,
                [&](runtime& rt) {
                  const auto all = rt.create_array<listener>(keyed_by<std::uint64_t>{});
                  for (std::uint64_t key = rt.rank().value() * keys; key < (rt.rank().value() + 1) * keys; ++key) {
                    for (std::uint64_t number = 0; number < 2000; ++number) rt.send<&listener::hear>(all[key], number);
                  }
                  rt.wait_quiescence();
                  if (rt.rank().value() == 0) {
                    EXPECT_EQ(rt.reduce<&listener::all_wrong>(all, std::plus<>{}).get(), 0U);
                  }
                  rt.barrier();
                  rt.destroy(all);
                }),
            0);
}

struct fragile {
  fragile() = default;
  explicit fragile(const std::string& key) {
    if (key == "bad") throw std::range_error("no such word");
  }
  void hear() {}
  template <class Archive>
  void serialize(Archive&) {}
};

/// Ends the process as the job ends.
void job(const char* transport, const std::function<void(runtime&)>& main) {
  config configuration;
  configuration.set("transport", transport);
  configuration.set("ranks", "2");
  std::exit(run(configuration, main));
}

class keyed_arrays_death : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_P(keyed_arrays_death, tell_what_to_write_instead) {
  const char* const range = GetParam();
  EXPECT_EXIT(job(range,
                  [](runtime& rt) {
                    const auto all = rt.create_array<counter>(keyed_by<int>{.keys_max = 4});
                    for (int key = 0; key < 20; ++key) rt.send<&counter::add>(all[key], 1U);
                  }),
              testing::ExitedWithCode(1),
              "more keys of a keyed array than its share of keys_max, where .* counts again: give create_array");
  EXPECT_EXIT(job(range,
                  [](runtime& rt) {
                    const auto all = rt.create_array<fragile>(keyed_by<std::string>{});
                    rt.send<&fragile::hear>(all["bad"]);
                  }),
              testing::ExitedWithCode(1), "no such word");
  EXPECT_EXIT(job(range,
                  [](runtime& rt) {
                    const auto all = rt.create_array<counter>(keyed_by<int>{});
                    rt.destroy(all);
                    rt.send<&counter::add>(all[1], 1U);
                  }),
              testing::ExitedWithCode(1), "a message to a key of a keyed array that has been destroyed");
}
/// Makes the element of a key, ends it, and sends to the key once more.
template <class K>
void miss(runtime& rt, const keyed_array_ptr<counter, K>& all, const K& key) {
  if (rt.rank() == rank_id(0)) {
    rt.insert(all, key).get();
    rt.erase(all, key).get();
    rt.send<&counter::add>(all[key], 1U);
  }
  rt.wait_quiescence();
}

void miss_many(runtime& rt) {
  const auto texts = rt.create_array<counter>(keyed_by<std::string>{});
  for (int each = 0; each < 8; ++each) miss(rt, texts, "old " + std::to_string(each));  // homes: both ranks
  miss(rt, texts, std::string("\"a\"\n"));
  miss(rt, rt.create_array<counter>(keyed_by<int>{}), -17);
  miss(rt, rt.create_array<counter>(keyed_by<std::pair<char, std::string>>{}), {'x', "y"});
  miss(rt, rt.create_array<counter>(keyed_by<grade>{}), grade{3});
  miss(rt, rt.create_array<counter>(keyed_by<spot>{}), spot_of(3));
}

TEST_P(keyed_arrays_death, name_the_key_of_an_element_that_is_not_there) {
  std::vector<std::string> names;
  for (int each = 0; each < 8; ++each) names.push_back("key \"old " + std::to_string(each) + "\" of array 1");
  names.insert(names.end(),
               {R"(key "\\"a\\"\\x0a" of array 1)", "key -17 of array 2", R"(key \("x", "y"\) of array 3)",
                "key grade 3 of array 4", R"(element \[[0-9]+\] of array 5, whose key this rank does not know)"});
  std::string lines;
  for (const std::string& each : names) lines += "add\\) to " + each + "(.|\n)*";
  EXPECT_EXIT(job(GetParam(), miss_many), testing::ExitedWithCode(0), lines);
}
INSTANTIATE_TEST_SUITE_P(over, keyed_arrays_death, testing::Values("inproc", "sim"),
                         [](const auto& subject) { return std::string(subject.param); });

}  // namespace
}  // namespace nacre::tests
