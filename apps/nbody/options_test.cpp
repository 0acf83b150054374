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

TEST(NbodyOptions, that_would_be_ignored_are_refused) {
  EXPECT_EQ(parse({"--model", "a.txt", "--bodies", "5"}).exit_code, 2);
  EXPECT_EQ(parse({"--model", "a.txt", "--seed", "5"}).exit_code, 2);
  EXPECT_EQ(parse({"--samples", "5"}).exit_code, 2);
  EXPECT_FALSE(parse({"--model", "a.txt", "--seed", "5", "--check", "--samples", "7"}).exit_code.has_value());
  const options asked = parse({"--bodies", "50", "--seed", "5", "--gravity", "2"}).asked;
  EXPECT_EQ(asked.model.bodies, 50u);
  EXPECT_EQ(asked.model.seed, 5u);
  EXPECT_EQ(asked.gravity, 2);
  EXPECT_TRUE(asked.has_gravity);
  EXPECT_FALSE(parse({}).asked.has_gravity);
}

}  // namespace
}  // namespace nbody
