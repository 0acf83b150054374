// SPDX-License-Identifier: Apache-2.0
// The promises of group_table, each as a sentence.
#include "am/group_table.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace nacre {
namespace {

struct numbered_member {
  std::uint32_t number = 0;
  std::atomic<int>* ends = nullptr;
  ~numbered_member() {
    if (ends != nullptr) ++*ends;
  }
};
constexpr const detail::group_type& of_members = detail::group_type_of<numbered_member>;

std::uint32_t number_in(const group_table& table, std::uint32_t group) {
  return static_cast<numbered_member*>(table.member(group, of_members))->number;
}

TEST(group_table, numbers_groups_from_one_and_finds_each_of_them) {
  group_table table;
  for (std::uint32_t group = 1; group <= 5000; ++group) {
    ASSERT_EQ(table.open(of_members), group);
    table.adopt(group, new numbered_member{group});
  }
  for (std::uint32_t group = 1; group <= 5000; ++group) ASSERT_EQ(number_in(table, group), group);
  EXPECT_EQ(table.made(), 5000U);
}

TEST(group_table, tells_what_is_wrong_with_a_handle) {
  group_table table;
  const std::uint32_t group = table.open(of_members);
  const auto told = [&](std::uint32_t number, const detail::group_type& type) -> std::string {
    try {
      static_cast<void>(table.member(number, type));
    } catch (const usage_error& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_NE(told(group, of_members).find("call rt.create_group before the first use"), std::string::npos);
  table.adopt(group, new numbered_member{});
  EXPECT_EQ(told(group, of_members), "");
  EXPECT_NE(told(group, detail::group_type_of<int>).find("numbered_member"), std::string::npos);
  EXPECT_NE(told(0, of_members).find("names no group"), std::string::npos);
  EXPECT_NE(told(~0U, of_members).find("is not, or no longer, there"), std::string::npos);
  of_members.destroy(table.withdraw(group));
  EXPECT_NE(told(group, of_members).find("is not, or no longer, there"), std::string::npos);
  EXPECT_EQ(table.withdraw(group), nullptr);
}

TEST(group_table, destroys_the_members_that_are_left) {
  std::atomic<int> ends{0};
  {
    group_table table;
    for (std::uint32_t group = 1; group <= 10; ++group) {
      table.adopt(table.open(of_members), new numbered_member{group, &ends});
    }
    of_members.destroy(table.withdraw(4));
    EXPECT_EQ(ends, 1);
    static_cast<void>(table.open(of_members));  // as if its constructor had thrown
  }
  EXPECT_EQ(ends, 10);
}

TEST(group_table, is_searched_by_others_while_main_makes_groups) {
  group_table table;
  std::atomic<std::uint32_t> made_count{0};
  constexpr std::uint32_t groups = 3000;
  std::vector<std::thread> others;
  for (int other = 0; other < 2; ++other) {
    others.emplace_back([&] {
      for (std::uint32_t known = 0; known < groups;) {
        known = made_count.load();
        if (known == 0) continue;
        EXPECT_EQ(number_in(table, known), known);
        EXPECT_THROW(static_cast<void>(table.member(groups + 1, of_members)), usage_error);
      }
    });
  }
  for (std::uint32_t group = 1; group <= groups; ++group) {
    table.adopt(table.open(of_members), new numbered_member{group});
    made_count.store(group);
  }
  for (std::thread& each : others) each.join();
}

}  // namespace
}  // namespace nacre
