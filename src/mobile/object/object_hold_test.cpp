// SPDX-License-Identifier: Apache-2.0
// The promises of object_hold, each as a sentence.
#include <nacre/rng.hpp>

#include "mobile/object/object_hold.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace nacre {
namespace {

/// An object with its messages, and the activation, which begins and gives up when the test says so.
class held_object : public testing::Test {
 protected:
  void admit(bool is_awaited, bool is_counted = true) {
    message_ptr m = make_message(0);
    m->header.kind = message_kind::object;
    m->header.reply = is_awaited ? 1 : 0;
    if (!is_counted) m->header.flags = flag_uncounted;
    step_.pending.push_back(std::move(m));
  }
  /// Runs what is to run; returns how many that were. `most`: the step ends then, whatever waits.
  std::size_t run_step(std::size_t most = ~std::size_t{0}) {
    hold_.take_up(entry_);
    std::size_t ran = 0;
    while (ran < most && !step_.pending.empty() && !hold_.keeps(step_)) {
      static_cast<void>(step_.pending.pop_front());
      ++ran;
    }
    return ran;
  }

  held_units units_;
  object_hold hold_{units_};
  object_entry entry_{object_id(rank_id(0), 1), {rank_id(0), 1}, nullptr};
  alignas(thread_context) std::byte no_thread_[sizeof(thread_context)];  // nothing here looks at it
  activation_step step_{entry_, *reinterpret_cast<thread_context*>(no_thread_), {}};
};

TEST_F(held_object, keeps_messages_that_nobody_awaits_and_counts_those_that_quiescence_counts) {
  hold_.begin();
  admit(false);
  admit(false, false);
  admit(false);
  EXPECT_EQ(run_step(), 0U);
  EXPECT_EQ(units_.lying(), 2U);
  admit(false);
  EXPECT_EQ(run_step(), 0U);
  EXPECT_EQ(units_.lying(), 3U);
}

TEST_F(held_object, runs_all_messages_up_to_the_last_one_that_somebody_awaits) {
  hold_.begin();
  for (const bool is_awaited : {false, true, false, false, true, false}) admit(is_awaited);
  EXPECT_EQ(run_step(), 5U);
  EXPECT_EQ(units_.lying(), 1U);
  admit(true);
  EXPECT_EQ(run_step(), 2U);
  EXPECT_EQ(units_.lying(), 0U);
}

TEST_F(held_object, runs_all_messages_up_to_the_awaited_one_however_many_steps_that_takes) {
  hold_.begin();
  constexpr std::size_t count = 200'000;
  for (std::size_t index = 1; index <= count; ++index) admit(index == count);
  std::size_t ran = 0;
  while (!step_.pending.empty()) ran += run_step(64);
  EXPECT_EQ(ran, count);
}

TEST_F(held_object, lies_or_runs_as_the_rule_says_in_any_order_of_events) {
  rng random(5);
  for (int round = 0; round < 300; ++round) {
    hold_.begin();
    std::vector<bool> waiting;  // whether each is awaited
    for (int event = 0; event < 40; ++event) {
      for (std::uint64_t more = random.below(4); more > 0; --more) {
        waiting.push_back(random.below(6) == 0);
        admit(waiting.back());
      }
      std::size_t due = 0;
      for (std::size_t index = 0; index < waiting.size(); ++index) {
        if (waiting[index]) due = index + 1;
      }
      const std::size_t most = random.below(3) == 0 ? random.below(3) : ~std::size_t{0};
      const std::size_t ran = run_step(most);
      ASSERT_EQ(ran, std::min(due, most));
      waiting.erase(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(ran));
      if (most > due && !waiting.empty()) {
        ASSERT_EQ(units_.lying(), waiting.size());
      }
    }
    step_.pending = {};
    static_cast<void>(hold_.end(step_.thread));
    ASSERT_EQ(units_.lying(), 0U);
  }
}

TEST_F(held_object, is_named_at_the_end_of_the_hold_if_messages_lie_at_it) {
  hold_.begin();
  EXPECT_TRUE(hold_.end(step_.thread).empty());
  hold_.begin();
  admit(false);
  EXPECT_EQ(run_step(), 0U);
  const std::vector<object_id> all = hold_.end(step_.thread);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all.front(), entry_.id);
  EXPECT_FALSE(hold_.keeps(step_)) << "the hold is over";
}

}  // namespace
}  // namespace nacre
