// SPDX-License-Identifier: Apache-2.0
// Load traces: reading returns the written rows, and a damaged text is refused with the number of its line.
#include "balance/load/load_trace.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include <nacre/error.hpp>
#include <nacre/rng.hpp>

namespace nacre::balance {
namespace {

load_trace some_trace() {
  return {.ranks = 3,
          .workers = 2,
          .interval = 0.001,
          .rows = {{0, 0, 17, 0.25e-3, 4, 1000}, {0, 2, 18, 1e-3, 1, 0}, {7, 1, ~std::uint64_t{0}, 0, 0, 5}}};
}

std::string refusal_of_trace(const std::string& text) {
  try {
    static_cast<void>(parse_load_trace(text, "a.load"));
  } catch (const setup_error& error) {
    return error.what();
  }
  return "";
}

TEST(load_trace, is_read_as_it_was_written_in_the_order_of_time) {
  load_trace mixed = some_trace();
  std::swap(mixed.rows.front(), mixed.rows.back());
  EXPECT_EQ(parse_load_trace(as_text(mixed), ""), some_trace());
  EXPECT_EQ(parse_load_trace(as_text({.interval = 1}), ""), (load_trace{.interval = 1}));
}

TEST(load_trace, one_that_was_cut_off_anywhere_is_refused) {
  const std::string whole = as_text(some_trace());
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_NE(refusal_of_trace(whole.substr(0, length)).find(" of a.load: "), std::string::npos) << length;
  }
}

TEST(load_trace, a_damaged_line_is_named_with_what_is_wrong) {
  EXPECT_EQ(refusal_of_trace("nacre-load-trace-1 3 2 0.001\n0 0 17 zero 4 1000\nend 1\n")
                .find("line 2 of a.load: 'zero' is not a time in seconds ("),
            0u);
  EXPECT_NE(refusal_of_trace("nacre-load-trace-1 3 2 0.001\n0 3 17 1 4 1000\nend 1\n").find("there is no rank 3"),
            std::string::npos);
  EXPECT_NE(refusal_of_trace("nacre-load-trace-1 3 2 0.001\n0 0 17 -1 4 1000\nend 1\n").find("cannot be"),
            std::string::npos);
  EXPECT_NE(refusal_of_trace("nacre-load-trace-1 3 2 0.001\n0 0 17 nan 4 1000\nend 1\n").find("cannot be"),
            std::string::npos);
  EXPECT_NE(refusal_of_trace("nacre-load-trace-1 3 2 0.001\n1 0 1 1 1 1\n0 0 1 1 1 1\nend 2\n").find("time goes back"),
            std::string::npos);
  EXPECT_NE(refusal_of_trace("nacre-load-trace-1 3 2 0.001\n0 0 1 1 1 1 9\nend 1\n").find("more than"),
            std::string::npos);
  EXPECT_NE(refusal_of_trace("nacre-load-trace-1 3 2 0.001\nend 1\n").find("rows are missing"), std::string::npos);
  EXPECT_NE(refusal_of_trace("nacre-load-trace-1 3 2 0.001\nend 0\nx\n").find("follows the end"), std::string::npos);
  EXPECT_NE(refusal_of_trace("nacre-load-trace-1 0 2 0.001\nend 0\n").find("no run has"), std::string::npos);
  EXPECT_NE(refusal_of_trace("ELF").find("line 0 of a.load: it does not begin with"), std::string::npos);
}

TEST(load_trace, any_bytes_are_read_or_refused) {
  const std::string whole = as_text(some_trace());
  for (std::uint64_t seed = 1; seed <= 20'000; ++seed) {
    rng random(seed);
    std::string text = whole;
    for (std::uint64_t left = 1 + random.below(4); left != 0; --left) {
      text[random.below(text.size())] =
          static_cast<char>(random.below(2) == 0 ? random.below(256) : "0 19-.e\n"[random.below(8)]);
    }
    try {
      const load_trace read = parse_load_trace(text, "");
      EXPECT_EQ(as_text(parse_load_trace(as_text(read), "")), as_text(read)) << "seed " << seed;
    } catch (const setup_error&) {
    }
  }
}

TEST(load_recorder, adds_up_what_an_object_does_in_an_interval) {
  load_recorder one(0.5);
  const object_id first(rank_id(0), 1), second(rank_id(0), 2);
  one.note(0.1, first, 0.01, 2, 100);
  one.note(0.4, first, 0.02, 1, 120);
  one.note(0.4, second, 0.04, 1, 0);
  one.note(0.6, first, 0.08, 1, 0);
  const std::vector<load_row> rows = one.rows(rank_id(3));
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0], (load_row{0, 3, first.value(), 0.03, 3, 120}));
  EXPECT_EQ(rows[1], (load_row{0, 3, second.value(), 0.04, 1, 0}));
  EXPECT_EQ(rows[2], (load_row{1, 3, first.value(), 0.08, 1, 0}));
}

}  // namespace
}  // namespace nacre::balance
