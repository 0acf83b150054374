// SPDX-License-Identifier: Apache-2.0
// The promises of the assertions, each as a sentence.
#include <nacre/assert.hpp>

#include <string>
#include <thread>

#include <gtest/gtest.h>

namespace nacre {
namespace {

constexpr int checked_half(int value) {
  NACRE_EXPECT(value % 2 == 0, "only even numbers have a half");
  return value / 2;
}

TEST(assert, a_check_that_holds_costs_neither_abort_nor_its_message) {
  int built = 0;
  const auto message = [&built] {
    ++built;
    return std::string("never shown");
  };
  NACRE_EXPECT(built == 0, message());
  NACRE_ASSERT(built == 0, message());
  NACRE_ENSURE(built == 0, message());
  EXPECT_EQ(built, 0);
}

TEST(assert, checks_may_stand_in_constant_expressions) { static_assert(checked_half(8) == 4); }

TEST(assert_death_test, a_failure_shows_kind_message_expression_place_and_thread_then_aborts) {
  set_thread_label("rank 1 worker 0");
  EXPECT_EXIT(checked_half(3), testing::KilledBySignal(SIGABRT),
              "expectation failed: only even numbers have a half\n.*value % 2 == 0\n.*assert_test.cpp:[0-9]+ in "
              "checked_half\n.*thread: rank 1 worker 0");
  set_thread_label("");
}

TEST(assert_death_test, the_message_may_show_values) {
  const int slot = 7;
  EXPECT_DEATH(NACRE_ENSURE(slot < 4, "slot " + std::to_string(slot) + " of 4"), "guarantee failed: slot 7 of 4");
}

#ifdef NACRE_SLOW_ASSERTS
TEST(assert_death_test, slow_assertions_are_evaluated_in_check_builds) {
  EXPECT_DEATH(NACRE_ASSERT_SLOW(1 > 2, "impossible"), "assertion failed: impossible");
}
#else
TEST(assert, slow_assertions_are_not_evaluated_in_release_builds) {
  int evaluated = 0;
  NACRE_ASSERT_SLOW(++evaluated > 5, "too dear");
  EXPECT_EQ(evaluated, 0);
}
#endif

TEST(thread_label, belongs_to_its_thread_and_is_cut_to_63_bytes) {
  set_thread_label("rank 0");
  std::string other = "unset";
  std::thread([&other] {
    EXPECT_EQ(thread_label(), "");
    set_thread_label(std::string(100, 'x'));
    other = thread_label();
  }).join();
  EXPECT_EQ(thread_label(), "rank 0");
  EXPECT_EQ(other, std::string(63, 'x'));
  set_thread_label("");
}

}  // namespace
}  // namespace nacre
