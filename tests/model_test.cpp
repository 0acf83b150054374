// SPDX-License-Identifier: Apache-2.0
// The protocols of location and migration as small models that are explored completely: three ranks, two objects, three
// messages, two migrations, and every order in which what is under way can arrive.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/sanitized.hpp"
#include "model/explorer.hpp"
#include "runtime/options.hpp"

namespace {

using model::action;
using kind = action::kind;

const std::vector<model::program>& programs() {
  static const std::vector<model::program> all{
      {"an_object_leaves_and_comes_home",
       {0, 1},
       {{0, kind::migrate, 0, 1},
        {1, kind::migrate, 0, 0},
        {2, kind::send, 0},
        {2, kind::send, 0},
        {1, kind::send, 1}}},
      {"an_object_sends_to_another_while_both_move",
       {0, 1},
       {{1, kind::relay, 0}, {2, kind::send, 1}, {0, kind::migrate, 0, 2}, {1, kind::migrate, 1, 2}}},
      {"a_balancer_moves_an_object_before_its_messages",
       {0, 1},
       {{0, kind::move_out, 0, 1},
        {1, kind::move_out, 0, 2},
        {2, kind::send, 0},
        {2, kind::send, 0},
        {1, kind::send, 0}}},
      {"an_object_is_chased",
       {0, 1},
       {{0, kind::migrate, 0, 1},
        {2, kind::migrate, 0, 2},
        {1, kind::send, 0},
        {1, kind::send, 0},
        {2, kind::send, 0}}},
      {"objects_change_places",
       {0, 1},
       {{0, kind::migrate, 0, 1},
        {1, kind::migrate, 1, 0},
        {2, kind::send, 0},
        {2, kind::send, 1},
        {2, kind::send, 0}}},
      {"an_object_is_destroyed_while_it_moves",
       {0, 1},
       {{0, kind::migrate, 0, 1},
        {1, kind::migrate, 0, 2},
        {2, kind::destroy, 0},
        {1, kind::send, 0},
        {2, kind::send, 0}}},
  };
  return all;
}

/// The location policies of this build.
std::vector<std::string> policies() {
  std::vector<std::string> names;
  for (const nacre::option_table& table : nacre::all_option_tables()) {
    for (const nacre::option& each : table.options) {
      if (each.name != "location") continue;
      std::istringstream words{std::string(each.range)};
      for (std::string word; std::getline(words, word, '|');) names.push_back(word);
    }
  }
  return names;
}

/// More than an object that only moves can cause here; where one ends, a turn of what can go round.
std::uint64_t forwards_max(const model::program& program, std::string_view location) {
  if (program.destroys()) return 3;
  return location == "home" ? 24 : 12;  // by way of the home
}

struct subject {
  model::program program;
  model::circumstances conditions;
  friend void PrintTo(const subject& subject, std::ostream* out) {
    *out << subject.program.title << "_" << subject.conditions.location << "_hops_" << subject.conditions.hops_max;
  }
};

class every_interleaving : public testing::TestWithParam<subject> {};

TEST_P(every_interleaving, keeps_every_promise) {
  const subject& subject = GetParam();
  const model::exploration exploration =
      model::explore(subject.program, subject.conditions, forwards_max(subject.program, subject.conditions.location));
  std::printf("%llu states for %.3g interleavings, %llu ends, %llu left, by %llu jobs\n",
              static_cast<unsigned long long>(exploration.states), exploration.interleavings,
              static_cast<unsigned long long>(exploration.ends), static_cast<unsigned long long>(exploration.left),
              static_cast<unsigned long long>(exploration.jobs));
  EXPECT_TRUE(exploration.wrong.empty()) << exploration.wrong;
  EXPECT_GT(exploration.ends, 0U);
  EXPECT_GT(exploration.interleavings, 1000);
  if (!subject.program.destroys()) {
    EXPECT_EQ(exploration.left, 0U) << "messages go round";
  }
}

/// A million states, which take a minute: everybody's news of every migration come in any order.
bool is_large(const subject& subject) {
  return subject.conditions.location == "broadcast_update" &&
         (subject.program.destroys() || subject.program.title == "an_object_is_chased");
}

bool with_large = false;  // as `--large` on the command line wants, which is what the target nightly gives

std::vector<subject> subjects() {
  std::vector<subject> all;
  for (const std::string& location : policies()) {
    for (const model::program& each : programs()) {
      if (nacre::tests::sanitized && all.size() == 3) break;  // the small ones
      subject one{each, {location, 8}};
      if (with_large || !is_large(one)) all.push_back(std::move(one));
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(of, every_interleaving, testing::ValuesIn(subjects()), testing::PrintToStringParamName());

}  // namespace

int main(int argc, char** argv) {
  with_large = std::count(argv, argv + argc, std::string_view("--large")) != 0;
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
