// SPDX-License-Identifier: Apache-2.0
// The work of objects that threads note, against a plain map.
#include "mobile/object/step_record.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <thread>
#include <vector>

#include <nacre/rng.hpp>

namespace nacre {
namespace {

object_id stepper(std::uint64_t index) { return object_id(rank_id{3}, index); }

TEST(step_record, has_a_row_for_each_object_with_all_that_its_threads_have_noted) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    rng random(seed);
    step_record record(3);
    std::map<std::uint64_t, step_record::row> expected;
    const std::uint64_t objects = 1 + random.below(1000);
    double seconds = 0;
    for (std::uint64_t left = random.below(5000); left != 0; --left) {
      const std::uint64_t index = 1 + random.below(objects);
      const double spent = static_cast<double>(1 + random.below(64));
      record.note(random.below(3), stepper(index), spent, left);
      expected[index].seconds += spent;
      ++expected[index].steps;
      seconds += spent;
    }
    const std::vector<step_record::row> rows = record.rows();
    ASSERT_EQ(rows.size(), expected.size()) << "seed " << seed;
    std::uint64_t steps = 0;
    for (auto row = rows.begin(); const auto& [index, known] : expected) {
      EXPECT_EQ(row->object, stepper(index));
      EXPECT_EQ(row->seconds, known.seconds);
      EXPECT_EQ(row->steps, known.steps);
      steps += known.steps;
      ++row;
    }
    EXPECT_EQ(record.so_far().seconds, seconds);
    EXPECT_EQ(record.so_far().steps, steps);
    record.clear();
    EXPECT_TRUE(record.rows().empty());
    EXPECT_EQ(record.so_far().seconds, 0);
  }
}

TEST(step_record, keeps_the_sum_of_more_objects_than_it_has_rows_for) {
  step_record record(1);
  const std::size_t objects = 3 * step_record::rows_max;
  for (std::size_t index = 1; index <= objects; ++index) record.note(0, stepper(index), 2, 5);
  EXPECT_EQ(record.rows().size(), step_record::rows_max);
  EXPECT_EQ(record.so_far().objects, step_record::rows_max);
  EXPECT_EQ(record.so_far().seconds, 2.0 * static_cast<double>(objects));
  record.note(0, stepper(1), 2, 5);  // which has a row
  EXPECT_EQ(record.so_far().steps, step_record::rows_max + 1);
}

TEST(step_record, shows_some_objects_with_what_they_did_on_all_threads) {
  step_record record(8);
  for (std::size_t index = 1; index <= 500; ++index) {
    for (std::size_t thread = 0; thread < 8; ++thread) record.note(thread, stepper(index), 1, 10 * index + thread);
  }
  const std::vector<step_record::row> some = record.some(100);
  EXPECT_EQ(some.size(), 100U);
  for (const step_record::row& each : some) EXPECT_EQ(each.steps, 8U);
  EXPECT_EQ(record.so_far().first, 10U);
  EXPECT_EQ(record.so_far().last, 5007U);
}

TEST(step_record, loses_nothing_that_threads_note_while_it_is_read) {
  constexpr std::uint64_t notes = 20'000;
  step_record record(2);
  std::atomic<int> running{2};
  const auto work = [&](std::size_t thread) {
    for (std::uint64_t n = 0; n < notes; ++n) record.note(thread, stepper(1 + n % 100), 1, 5);
    running.fetch_sub(1);
  };
  std::thread first(work, 0), second(work, 1);
  double latest = 0;
  while (running.load() != 0) {
    const double now = record.so_far().seconds;
    EXPECT_GE(now, latest);
    latest = now;
    EXPECT_LE(record.rows().size(), 100U);
  }
  first.join();
  second.join();
  EXPECT_EQ(record.so_far().seconds, 2.0 * notes);
}

}  // namespace
}  // namespace nacre
