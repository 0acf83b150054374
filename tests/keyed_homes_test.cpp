// SPDX-License-Identifier: Apache-2.0
// Homes of keys that the program chooses: what is told of functions that name no rank, or differ.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <ostream>
#include <stdexcept>
#include <string>

#include <nacre/nacre.hpp>

namespace nacre::tests {

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
struct std::hash<nacre::tests::grade> {
  std::size_t operator()(const nacre::tests::grade& grade) const noexcept {
    return static_cast<std::size_t>(grade.value);
  }
};

namespace nacre::tests {
namespace {

struct counter {
  std::uint64_t count = 0;
  void add(std::uint64_t amount) { count += amount; }
  std::uint64_t value() const { return count; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(count);
  }
};

/// Ends the process as the job ends.
void job(const char* transport, const std::function<void(runtime&)>& main) {
  config configuration;
  configuration.set("transport", transport);
  configuration.set("ranks", "2");
  std::exit(run(configuration, main));
}

class keyed_homes_death : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

constexpr auto always_7 = [](const std::string&, std::uint32_t) { return 7; };
constexpr auto below_0 = [](const grade& grade, std::uint32_t) { return -grade.value; };
constexpr auto in_vain = [](const int&, std::uint32_t) -> rank_id { throw std::range_error("no home for it"); };

/// What the caller is told of a function that names no rank.
template <class Action>
void catch_and_tell(Action&& action) {
  try {
    action();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "caught: %s\n", error.what());
  }
}

TEST_P(keyed_homes_death, refuse_homes_that_are_no_ranks_at_the_caller) {
  const auto refused = [](runtime& rt) {
    const auto texts = rt.create_array<counter>(keyed_by<std::string>{.home = always_7});
    const auto grades = rt.create_array<counter>(keyed_by<grade>{.home = below_0}, sparse);
    const auto numbers = rt.create_array<counter>(keyed_by<int>{.home = in_vain});
    if (rt.rank() == rank_id(0)) {
      catch_and_tell([&] { rt.send<&counter::add>(texts["a"], 1U); });
      catch_and_tell([&] { static_cast<void>(rt.call<&counter::value>(texts["b"])); });
      catch_and_tell([&] { rt.insert(grades, grade{3}); });
      catch_and_tell([&] { rt.erase(grades, grade{4}); });
      catch_and_tell([&] { static_cast<void>(rt.element_of(grades, grade{5})); });
      catch_and_tell([&] { rt.send<&counter::add>(numbers[1], 1U); });
    }
    rt.wait_quiescence();  // nothing is left of them
    rt.destroy(texts);
  };
  EXPECT_EXIT(
      job(GetParam(), refused), testing::ExitedWithCode(0),
      "caught: the home of key \"a\" of array 1 \\(.*counter\\) is rank 7 by the function of keyed_by, in a job "
      "with 2 ranks: return a number below(.|\n)*"
      "key \"b\" of array 1(.|\n)*key grade 3 of array 2 .* is rank -3 (.|\n)*key grade 4 of array 2(.|\n)*"
      "key grade 5 of array 2(.|\n)*caught: no home for it");
}

std::uint32_t seen_ranks = 0;  // differs between calls, as no such function may

TEST_P(keyed_homes_death, tell_of_homes_that_differ_between_ranks) {
  EXPECT_EXIT(job(GetParam(),
                  [](runtime& rt) {
                    const auto all = rt.create_array<counter>(
                        keyed_by<int>{.home = [](const int&, std::uint32_t) { return 1 - seen_ranks++ % 2; }});
                    if (rt.rank() == rank_id(0)) rt.send<&counter::add>(all[4], 1U);
                  }),
              testing::ExitedWithCode(1),
              "the home of key 4 of array 1 .* is rank 1 by the function of keyed_by on rank 0, and rank 0 by that on "
              "rank 1: the function must return the same on every rank");
}

INSTANTIATE_TEST_SUITE_P(over, keyed_homes_death, testing::Values("inproc", "sim"),
                         [](const auto& subject) { return std::string(subject.param); });

}  // namespace
}  // namespace nacre::tests
