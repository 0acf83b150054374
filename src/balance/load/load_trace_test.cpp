// SPDX-License-Identifier: Apache-2.0
// Load traces: reading returns the written rows, a damaged text is refused with the number of its line, and what is
// recorded is bounded.
#include "balance/load/load_trace.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <nacre/error.hpp>
#include <nacre/ids.hpp>
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
  load_recorder one(0.5, 1000);
  const object_id first(rank_id(0), 1), second(rank_id(0), 2);
  one.note(0.1, first, 0.01, 2, 100);
  one.note(0.4, first, 0.02, 1, 120);
  one.note(0.4, second, 0.04, 1, 0);
  one.note(0.6, first, 0.08, 1, 0);
  const std::vector<load_row> rows = one.take(load_recorder::last_key, rank_id(3));
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0], (load_row{0, 3, first.value(), 0.03, 3, 120}));
  EXPECT_EQ(rows[1], (load_row{0, 3, second.value(), 0.04, 1, 0}));
  EXPECT_EQ(rows[2], (load_row{1, 3, first.value(), 0.08, 1, 0}));
}

std::vector<load_row> all_rows(load_recorder& recorder) { return recorder.take(load_recorder::last_key, rank_id{2}); }

TEST(load_recorder, doubles_its_interval_rather_than_hold_more_rows) {
  constexpr int steps = 100;
  load_recorder recorder(0.5, 16);
  for (int step = 0; step < steps; ++step) {
    for (const std::uint64_t object : {1, 2, 3}) {
      recorder.note(0.5 * step + 0.25, object_id(rank_id{0}, object), 1e-3, 2, static_cast<std::uint64_t>(step + 1));
    }
  }
  EXPECT_EQ(recorder.interval(), 16);
  const std::vector<load_row> rows = all_rows(recorder);
  ASSERT_EQ(rows.size(), 3U * 4) << "50 s";
  double seconds = 0;
  std::uint32_t messages = 0;
  for (const load_row& each : rows) seconds += each.seconds, messages += each.messages;
  EXPECT_NEAR(seconds, 3 * steps * 1e-3, 1e-9);
  EXPECT_EQ(messages, 3U * steps * 2);
  EXPECT_EQ(rows.back().bytes, static_cast<std::uint64_t>(steps)) << "the size at the end of the interval";
  EXPECT_EQ(rows.front().bytes, 32U);
}

TEST(load_recorder, keeps_every_object_and_doubles_no_interval_in_vain) {
  load_recorder recorder(1, 16);
  for (std::uint64_t object = 1; object <= 1000; ++object) {
    recorder.note(static_cast<double>(object), object_id(rank_id{0}, object), 1, 1, 0);
  }
  EXPECT_EQ(recorder.interval(), 1);
  EXPECT_EQ(all_rows(recorder).size(), 1000U);
  load_recorder at_once(1, 16);
  for (std::uint64_t object = 1; object <= 1000; ++object) at_once.note(0.5, object_id(rank_id{0}, object), 1, 1, 0);
  EXPECT_EQ(at_once.interval(), 1);
}

TEST(load_recorder, gives_its_rows_in_pieces_that_end_with_an_interval_where_they_can) {
  load_recorder recorder(1, 1000);
  for (std::uint64_t object = 1; object <= 10; ++object) recorder.note(0, object_id(rank_id{0}, object), 1, 1, 0);
  for (const double now : {1, 2, 3}) {
    for (const std::uint64_t object : {1, 2, 3}) recorder.note(now, object_id(rank_id{0}, object), 1, 1, 0);
  }
  std::vector<std::size_t> sizes;
  std::uint64_t previous = 0;
  for (load_recorder::row_key end{}; end != load_recorder::last_key;) {
    end = recorder.end_of_first(4);
    const std::vector<load_row> piece = recorder.take(end, rank_id{0});
    sizes.push_back(piece.size());
    for (const load_row& each : piece) {
      const std::uint64_t place = each.interval * 1000 + object_id::from_value(each.object).index();
      EXPECT_LT(previous, place);
      previous = place;
    }
  }
  EXPECT_EQ(sizes, (std::vector<std::size_t>{4, 4, 2, 3, 3, 3}));
}

}  // namespace
}  // namespace nacre::balance
