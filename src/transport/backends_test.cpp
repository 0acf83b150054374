// SPDX-License-Identifier: Apache-2.0
// The table of backends answers to names, and helps with misspelt ones.
#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "transport/transport.hpp"

namespace nacre::transport {
namespace {

TEST(backends, have_names_of_their_own_and_options_that_begin_with_them) {
  std::set<std::string_view> names;
  for (const backend& each : backends()) {
    EXPECT_TRUE(names.insert(each.name).second) << each.name;
    EXPECT_NE(each.make_local, nullptr);
    EXPECT_FALSE(each.help.empty());
    for (const option& row : each.options) EXPECT_TRUE(row.name.starts_with(std::string(each.name) + ".")) << row.name;
    EXPECT_EQ(find_backend(each.name).name, each.name);
  }
}

TEST(backends, answer_a_misspelt_name_with_the_nearest_one) {
  try {
    static_cast<void>(find_backend("tpc"));
    FAIL() << "there is no such transport";
  } catch (const setup_error& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'tcp'?"), std::string::npos) << error.what();
  }
}

TEST(backends, answer_a_name_that_resembles_none_with_all) {
  try {
    static_cast<void>(find_backend("carrier_pigeon"));
    FAIL() << "there is no such transport";
  } catch (const setup_error& error) {
    for (const backend& each : backends()) {
      EXPECT_NE(std::string(error.what()).find(each.name), std::string::npos) << error.what();
    }
  }
}

TEST(failure, reads_as_a_sentence_with_and_without_a_rank) {
  EXPECT_EQ(describe({.peer = rank_id(2), .reason = "was killed by signal 9 (Killed)"}),
            "rank 2 was killed by signal 9 (Killed)");
  EXPECT_EQ(describe({.peer = std::nullopt, .reason = "the launcher has ended"}), "the launcher has ended");
}

}  // namespace
}  // namespace nacre::transport
