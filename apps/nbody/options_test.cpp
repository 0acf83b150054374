// SPDX-License-Identifier: Apache-2.0
// The command line.
#include "options.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace nbody {
namespace {

command_line parse(std::vector<const char*> words) {
  words.insert(words.begin(), "nbody");
  return parse_command_line(static_cast<int>(words.size()), words.data());
}

TEST(NbodyOptions, without_a_meaning_are_refused) {
  EXPECT_EQ(parse({"--half-width", "-1"}).exit_code, 2);
  EXPECT_EQ(parse({"--recut", "5", "--balance", "none"}).exit_code, 2);
  EXPECT_EQ(parse({"--recut", "5"}).exit_code, 2);
  EXPECT_FALSE(parse({"--recut", "5", "--balance", "bound", "--half-width", "7"}).exit_code.has_value());
}

}  // namespace
}  // namespace nbody
