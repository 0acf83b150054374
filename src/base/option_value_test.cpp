// SPDX-License-Identifier: Apache-2.0
// The promises of the grammar of option values, each as a sentence.
#include "base/option_value.hpp"

#include <gtest/gtest.h>

namespace nacre {
namespace {

using namespace std::chrono_literals;

TEST(option_value, durations_need_a_unit_except_zero) {
  EXPECT_EQ(parse_duration("20us"), 20us);
  EXPECT_EQ(parse_duration("1.5ms"), 1500us);
  EXPECT_EQ(parse_duration("3s"), 3s);
  EXPECT_EQ(parse_duration("2min"), 2min);
  EXPECT_EQ(parse_duration("7ns"), 7ns);
  EXPECT_EQ(parse_duration("0"), 0ns);
  for (const char* const bad : {"20", "us", "", "-1s", "5 s", "5S", "1e300s", "nans"}) {
    EXPECT_EQ(parse_duration(bad), std::nullopt) << bad;
  }
}

TEST(option_value, bytes_may_have_a_binary_unit) {
  EXPECT_EQ(parse_bytes("64KiB"), 65536);
  EXPECT_EQ(parse_bytes("3MiB"), 3 << 20);
  EXPECT_EQ(parse_bytes("1TiB"), std::int64_t{1} << 40);
  EXPECT_EQ(parse_bytes("12"), 12);
  EXPECT_EQ(parse_bytes("12B"), 12);
  for (const char* const bad : {"", "-1", "1KB", "1.5KiB", "9999999999999999GiB", "8388608TiB"}) {
    EXPECT_EQ(parse_bytes(bad), std::nullopt) << bad;
  }
}

TEST(option_value, numbers_are_read_to_their_last_character) {
  EXPECT_EQ(parse_integer("-12"), -12);
  EXPECT_EQ(parse_integer("12x"), std::nullopt);
  EXPECT_EQ(parse_integer("99999999999999999999"), std::nullopt);
  EXPECT_EQ(parse_real("2.5e-3"), 2.5e-3);
  EXPECT_EQ(parse_real("inf"), std::nullopt);
  EXPECT_EQ(parse_real("1,5"), std::nullopt);
}

TEST(option_value, booleans_are_four_pairs_of_words) {
  for (const char* const yes : {"true", "on", "yes", "1"}) EXPECT_EQ(parse_boolean(yes), true);
  for (const char* const no : {"false", "off", "no", "0"}) EXPECT_EQ(parse_boolean(no), false);
  EXPECT_EQ(parse_boolean("maybe"), std::nullopt);
}

TEST(option_value, both_ends_of_a_range_belong_to_it_and_either_may_be_open) {
  const option workers{.name = "w", .kind = option_kind::integer, .unit = "threads", .range = "1..8"};
  EXPECT_EQ(find_fault(workers, "1"), "");
  EXPECT_EQ(find_fault(workers, "8"), "");
  EXPECT_EQ(find_fault(workers, "9"), "is outside 1..8 threads");
  EXPECT_EQ(find_fault(workers, "0"), "is outside 1..8 threads");
  const option port{.name = "p", .kind = option_kind::integer, .range = "1024.."};
  EXPECT_EQ(find_fault(port, "99999999"), "");
  EXPECT_EQ(find_fault(port, "80"), "is less than 1024, the least allowed");
  const option spin{.name = "s", .kind = option_kind::duration, .range = "..1ms"};
  EXPECT_EQ(find_fault(spin, "0"), "");
  EXPECT_EQ(find_fault(spin, "2ms"), "is more than 1ms, the most allowed");
  const option share{.name = "r", .kind = option_kind::real, .range = "0.0..1.0"};
  EXPECT_EQ(find_fault(share, "0.25"), "");
  EXPECT_EQ(find_fault(share, "1.25"), "is outside 0.0..1.0");
  const option eager{.name = "e", .kind = option_kind::bytes, .range = "1KiB..1MiB"};
  EXPECT_EQ(find_fault(eager, "64KiB"), "");
  EXPECT_EQ(find_fault(eager, "1023"), "is outside 1KiB..1MiB");
}

TEST(option_value, what_is_no_number_is_told_what_is_allowed) {
  const option workers{.name = "w", .kind = option_kind::integer, .unit = "threads", .range = "1..8"};
  EXPECT_EQ(find_fault(workers, "many"), "is not a whole number within 1..8 threads");
  EXPECT_EQ(find_fault(workers, ""), "is not a whole number within 1..8 threads");
  EXPECT_EQ(find_fault(workers, "99999999999999999999"), "is outside 1..8 threads");
  const option seed{.name = "n", .kind = option_kind::integer, .range = "0.."};
  EXPECT_EQ(find_fault(seed, "1.5"), "is not a whole number of 0 or more");
  EXPECT_EQ(find_fault(seed, "-1"), "is less than 0, the least allowed");
  EXPECT_EQ(find_fault(seed, "-99999999999999999999"), "is less than 0, the least allowed");
  EXPECT_EQ(find_fault(seed, "99999999999999999999"), "is more than 9223372036854775807, the most allowed");
  EXPECT_EQ(find_fault(seed, "99999999999999999999s"), "is not a whole number of 0 or more");
  const option any{.name = "a", .kind = option_kind::integer};
  EXPECT_EQ(find_fault(any, "-1"), "");
  EXPECT_EQ(find_fault(any, "x"), "is not a whole number");
  EXPECT_EQ(find_fault(any, "-99999999999999999999"), "is less than -9223372036854775808, the least allowed");
  const option rest{.name = "s", .kind = option_kind::duration, .range = "..1ms"};
  EXPECT_EQ(find_fault(rest, "-1s"), "is not a duration with a unit (ns, us, ms, s, min) of 1ms or less");
  const option wait{.name = "t", .kind = option_kind::duration, .range = "1us.."};
  EXPECT_EQ(find_fault(wait, "-1s"), "is not a duration with a unit (ns, us, ms, s, min) of 1us or more");
  const option share{.name = "r", .kind = option_kind::real, .range = "0.0..1.0"};
  EXPECT_EQ(find_fault(share, "nan"), "is not a number within 0.0..1.0");
}

TEST(option_value, a_choice_is_one_of_the_listed_words) {
  const option transport{.name = "t", .kind = option_kind::choice, .range = "tcp|inproc|sim"};
  for (const char* const word : {"tcp", "inproc", "sim"}) EXPECT_EQ(find_fault(transport, word), "");
  for (const char* const word : {"", "tcp|inproc", "udp"}) {
    EXPECT_EQ(find_fault(transport, word), "is none of tcp|inproc|sim") << word;
  }
}

}  // namespace
}  // namespace nacre
