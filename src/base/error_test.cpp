// SPDX-License-Identifier: Apache-2.0
// The promises of setup_error and expected, each as a sentence.
#include <nacre/error.hpp>
#include <nacre/expected.hpp>

#include <string>

#include <gtest/gtest.h>

namespace nacre {
namespace {

enum class refusal { odd, negative };

expected<int, refusal> half(int value) {
  if (value < 0) return unexpected(refusal::negative);
  if (value % 2 != 0) return unexpected(refusal::odd);
  return value / 2;
}

TEST(setup_error, puts_problem_reason_and_remedy_into_one_line) {
  const setup_error error({.problem = "no port is free", .why = "ranks could not meet", .remedy = "end other jobs"});
  EXPECT_STREQ(error.what(), "no port is free (ranks could not meet): end other jobs");
  EXPECT_STREQ(setup_error("as it stands").what(), "as it stands");
}

TEST(expected, holds_either_the_value_or_the_reason) {
  EXPECT_EQ(half(8).value(), 4);
  EXPECT_EQ(half(7).error(), refusal::odd);
  EXPECT_EQ(half(-2).error(), refusal::negative);
}

TEST(expected, a_reason_of_another_type_converts) {
  const expected<int, std::string> wrong = unexpected("too late");
  EXPECT_EQ(wrong.error(), "too late");
}

}  // namespace
}  // namespace nacre
