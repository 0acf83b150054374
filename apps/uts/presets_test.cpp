// SPDX-License-Identifier: Apache-2.0
// The table of named trees and what is known about others.
#include "presets.hpp"

#include <gtest/gtest.h>

#include <array>
#include <nacre/error.hpp>
#include <string>

#include "nearest_name.hpp"

namespace uts {
namespace {

TEST(presets, every_preset_is_a_valid_tree_with_its_own_name_and_parameters) {
  for (const preset& p : presets()) {
    EXPECT_NO_THROW(validate(p.params)) << p.name;
    EXPECT_EQ(&find_preset(p.name), &p);
    EXPECT_EQ(preset_name(p.params), p.name);
    EXPECT_LT(p.size.leaves, p.size.nodes);
  }
  EXPECT_EQ(presets().size(), 13u);
}

TEST(presets, a_name_is_found_in_any_letter_case) { EXPECT_EQ(find_preset("t1xXl").name, "T1XXL"); }

TEST(presets, an_unknown_name_is_answered_with_the_nearest) {
  try {
    (void)find_preset("T1LX");
    FAIL() << "there is a tree T1LX";
  } catch (const nacre::setup_error& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean T1L?"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("--list"), std::string::npos) << error.what();
  }
}

TEST(presets, the_size_of_a_preset_is_known_whatever_its_granularity) {
  tree_params params = find_preset("T1").params;
  params.granularity = 5;
  ASSERT_TRUE(find_known_size(params).has_value());
  EXPECT_EQ(find_known_size(params)->nodes, 4130071u);
  EXPECT_EQ(find_known_size(params)->source, "published");
}

TEST(presets, a_changed_preset_has_no_known_size) {
  tree_params params = find_preset("T1").params;
  params.seed = 20;
  EXPECT_FALSE(find_known_size(params).has_value());
  EXPECT_EQ(preset_name(params), "");
}

TEST(presets, of_the_published_series_the_nodes_are_known) {
  tree_params params = find_preset("T1").params;
  params.depth = 8;
  const std::optional<known_size> size = find_known_size(params);
  ASSERT_TRUE(size.has_value());
  EXPECT_TRUE(size->agrees_with({.nodes = 257042, .leaves = 1, .depth = 2}));
  EXPECT_FALSE(size->agrees_with({.nodes = 257043, .leaves = 1, .depth = 2}));
}

TEST(presets, a_known_size_disagrees_when_any_of_its_numbers_does) {
  const known_size& size = find_preset("T1").size;
  EXPECT_TRUE(size.agrees_with({4130071, 3305118, 10}));
  EXPECT_FALSE(size.agrees_with({4130070, 3305118, 10}));
  EXPECT_FALSE(size.agrees_with({4130071, 3305119, 10}));
  EXPECT_FALSE(size.agrees_with({4130071, 3305118, 11}));
}

TEST(presets, a_balanced_tree_has_a_closed_form_unless_it_is_too_large) {
  const auto size = [](double branching, std::uint32_t depth) {
    return find_known_size({.type = tree_type::balanced, .branching = branching, .depth = depth});
  };
  EXPECT_TRUE(size(2, 10)->agrees_with({2047, 1024, 10}));
  EXPECT_TRUE(size(1, 7)->agrees_with({8, 1, 7}));
  EXPECT_TRUE(size(0, 7)->agrees_with({1, 1, 0}));
  EXPECT_TRUE(size(2, 60)->agrees_with({(std::uint64_t{1} << 61) - 1, std::uint64_t{1} << 60, 60}));
  EXPECT_TRUE(size(2, 62).has_value());
  EXPECT_FALSE(size(2, 63).has_value());
  EXPECT_FALSE(size(1e9, 3).has_value());
}

TEST(nearest_name, the_name_with_the_fewest_edits_wins) {
  constexpr std::array<std::string_view, 4> names{"portable", "shani", "auto", "--shape"};
  EXPECT_EQ(nearest_name("sahni", names), "shani");
  EXPECT_EQ(nearest_name("PORT", names), "portable");
  EXPECT_EQ(nearest_name("--shap", names), "--shape");
  EXPECT_EQ(nearest_name("", names), "auto");
}

TEST(nearest_name, of_a_hundred_million_letters_costs_no_more_than_the_names_are_long) {
  constexpr std::array<std::string_view, 3> names{"auto", "shani", "portable"};
  EXPECT_EQ(nearest_name(std::string(100'000'000, 'a'), names), "auto");  // letter by letter: 17 GB of table
}

TEST(nearest_name, swapped_neighbours_are_one_edit) {
  constexpr std::array<std::string_view, 2> names{"baxy", "abcd"};
  EXPECT_EQ(nearest_name("bacd", names), "abcd");
}

TEST(nearest_name, letter_case_is_ignored_only_for_letters) {
  EXPECT_TRUE(equal_ignoring_case("T1l", "t1L"));
  EXPECT_FALSE(equal_ignoring_case("T1", "T1L"));
  EXPECT_FALSE(equal_ignoring_case("[", "{"));
}

}  // namespace
}  // namespace uts
