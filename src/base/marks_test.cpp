// SPDX-License-Identifier: Apache-2.0
// The promises of marks, each as a sentence.
#include "base/marks.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace nacre {
namespace {

const mark* find(std::string_view name) {
  const auto all = mark::all();
  const auto match = std::find_if(all.begin(), all.end(), [&](const mark* each) { return each->name() == name; });
  return match == all.end() ? nullptr : *match;
}

void take_branch(bool rare) {
  if (rare) NACRE_MARK("a rare branch of this test");
}

TEST(marks, a_mark_is_listed_before_its_branch_has_ever_been_taken) {
  const mark* known = find("a rare branch of this test");
  ASSERT_NE(known, nullptr);
  const std::uint64_t previous = known->hits();
  take_branch(false);
  EXPECT_EQ(known->hits(), previous);
  take_branch(true);
  EXPECT_EQ(known->hits(), previous + 1);
}

TEST(marks, two_places_with_one_name_share_a_mark) {
  NACRE_MARK("one name");
  const std::uint64_t previous = find("one name")->hits();
  NACRE_MARK("one name");
  EXPECT_EQ(find("one name")->hits(), previous + 1);
  const auto all = mark::all();
  EXPECT_EQ(std::count_if(all.begin(), all.end(), [](const mark* each) { return each->name() == "one name"; }), 1);
}

}  // namespace
}  // namespace nacre
