// SPDX-License-Identifier: Apache-2.0
// A report tells the lines of the least numbers first, whatever the order in which they come.
#include "base/report_lines.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace nacre {
namespace {

using urgency = report_lines::urgency;

std::vector<std::string> texts(const report_lines& report) {
  std::vector<std::string> all;
  for (const report_lines::line& each : report.lines()) all.push_back(each.text);
  return all;
}

TEST(report_lines, keeps_the_least_numbers_behind_causes_and_before_lines_without_a_number) {
  report_lines all(4);
  int made_count = 0;
  const auto add = [&](urgency kind, std::uint64_t number, const char* text) {
    all.add(kind, number, [&] {
      ++made_count;
      return std::string(text);
    });
  };
  add(urgency::other, 0, "without a number");
  for (const std::uint64_t number : {9U, 8U, 12U, 10U, 7U, 11U}) {
    add(urgency::numbered, number, number == 7 ? "7" : "later");
  }
  add(urgency::numbered, 7, "7 again");
  add(urgency::cause, 0, "cause");
  EXPECT_EQ(texts(all), (std::vector<std::string>{"cause", "7", "7 again", "later"}));
  EXPECT_EQ(all.count(), 9U);
  const int previous = made_count;
  add(urgency::numbered, 8, "no better than the last");
  EXPECT_EQ(made_count, previous) << "the text of a line that is not kept is made";
}

TEST(report_lines, of_several_ranks_tell_the_least_numbers_of_all) {
  report_lines all(2), one(2), none;
  for (const std::uint64_t number : {5U, 3U}) {
    all.add(urgency::numbered, number, [&] { return "a" + std::to_string(number); });
  }
  for (const std::uint64_t number : {3U, 2U, 6U}) {
    one.add(urgency::numbered, number, [&] { return "b" + std::to_string(number); });
  }
  all.add(one);
  EXPECT_EQ(texts(all), (std::vector<std::string>{"b2", "a3"}));
  EXPECT_EQ(all.count(), 5U);
  none.add(all);
  EXPECT_TRUE(none.lines().empty());
}

}  // namespace
}  // namespace nacre
