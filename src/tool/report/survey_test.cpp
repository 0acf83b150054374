// SPDX-License-Identifier: Apache-2.0
// What a survey keeps of a trace of any length.
#include "tool/report/survey.hpp"

#include <cstddef>
#include <cstdint>

#include <gtest/gtest.h>

namespace nacre::tool {
namespace {

TEST(passages, are_counted_all_and_thinned_evenly) {
  passage_list list(10);
  for (std::uint64_t number = 0; number < 10; ++number) list.add({.object = number});
  EXPECT_EQ(list.kept.size(), 10U) << "there is room for all";
  for (std::uint64_t number = 10; number < 25; ++number) list.add({.object = number});
  EXPECT_EQ(list.count, 25U);
  ASSERT_EQ(list.kept.size(), 7U);
  for (std::size_t index = 0; index < list.kept.size(); ++index) EXPECT_EQ(list.kept[index].object, 4 * index);
}

}  // namespace
}  // namespace nacre::tool
