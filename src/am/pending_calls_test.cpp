// SPDX-License-Identifier: Apache-2.0
// The promises of pending_calls, each as a sentence.
#include "am/pending_calls.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "am/call_deadline.hpp"
#include "base/clock.hpp"

namespace nacre {
namespace {

using value = detail::future_value<void>;

TEST(pending_calls, a_number_finds_its_call_once) {
  pending_calls calls;
  auto* const state = new value;
  const std::uint64_t number = calls.open(*state);
  EXPECT_NE(number, 0U);
  EXPECT_EQ(calls.count(), 1U);
  EXPECT_EQ(calls.close(number), state);
  EXPECT_EQ(calls.close(number), nullptr);
  EXPECT_EQ(calls.count(), 0U);
  state->release();
  state->release();
}

TEST(pending_calls, a_number_is_never_given_twice_though_its_place_is) {
  pending_calls calls;
  std::set<std::uint64_t> numbers;
  auto* const state = new value;
  for (int round = 0; round < 1000; ++round) {
    const std::uint64_t number = calls.open(*state);
    EXPECT_TRUE(numbers.insert(number).second);
    ASSERT_EQ(calls.close(number), state);
    state->release();
  }
  for (const std::uint64_t each : numbers) EXPECT_EQ(calls.close(each), nullptr);
  state->release();
}

TEST(request_slots, generations_wrap_and_leave_out_0) {
  request_slots<int> slots(~std::uint32_t{0} - 1);
  std::set<std::uint64_t> seen;
  for (int round = 0; round < 5; ++round) {
    const std::uint64_t id = slots.open(round);
    EXPECT_NE(id, 0U);
    EXPECT_TRUE(seen.insert(id).second);
    ASSERT_NE(slots.find(id), nullptr);
    EXPECT_EQ(*slots.find(id), round);
    slots.close(id);
    for (const std::uint64_t each : seen) EXPECT_EQ(slots.find(each), nullptr);
  }
}

TEST(request_slots, memory_follows_the_values_that_wait) {
  constexpr int many = 20000;
  request_slots<int> slots;
  std::vector<std::uint64_t> ids;
  std::set<std::uint64_t> seen;
  for (int round = 0; round < 3; ++round) {
    for (int each = 0; each < many; ++each) {
      ids.push_back(slots.open(each));
      EXPECT_TRUE(seen.insert(ids.back()).second) << "an id that was given before";
    }
    EXPECT_GE(slots.kept(), std::size_t{many});
    const std::uint64_t last = ids.back();
    ids.pop_back();
    for (const std::uint64_t each : ids) slots.close(each);
    EXPECT_EQ(slots.count(), 1U);
    EXPECT_LE(slots.kept(), 2 * request_slots<int>::block_slots) << "of the first block, and of the one in use";
    ASSERT_NE(slots.find(last), nullptr);
    EXPECT_EQ(*slots.find(last), many - 1);
    slots.close(last);
    for (const std::uint64_t each : seen) ASSERT_EQ(slots.find(each), nullptr);
    ids.clear();
  }
}

TEST(request_slots, a_block_whose_generations_have_wrapped_stays) {
  constexpr std::uint32_t all = request_slots<int>::block_slots + 1;  // the last one is in the second block
  request_slots<int> slots(~std::uint32_t{0} - 1);
  std::set<std::uint64_t> seen;
  for (int round = 0; round < 4; ++round) {
    std::vector<std::uint64_t> ids;
    for (std::uint32_t each = 0; each < all; ++each) {
      ids.push_back(slots.open(static_cast<int>(each)));
      EXPECT_TRUE(seen.insert(ids.back()).second) << "round " << round;
    }
    for (const std::uint64_t each : ids) slots.close(each);
  }
}

TEST(pending_calls, forged_numbers_find_nothing) {
  pending_calls calls;
  auto* const state = new value;
  const std::uint64_t number = calls.open(*state);
  for (const std::uint64_t forged : {std::uint64_t{0}, number + 1, number + (std::uint64_t{1} << 32), ~number}) {
    EXPECT_EQ(calls.close(forged), nullptr) << forged;
  }
  EXPECT_EQ(calls.close(number), state);
  state->release();
  state->release();
}

TEST(pending_calls, calls_that_never_come_back_are_given_up_with_the_rank) {
  auto* const state = new value;
  {
    pending_calls calls;
    static_cast<void>(calls.open(*state));
  }
  EXPECT_FALSE(state->ready());
  state->release();  // the last reference: the leak checker sees when it is not
}

/// Gives a call up that nobody watches.
detail::future_state* give_up(pending_calls& calls, std::uint64_t number, pending_calls::end end) {
  std::vector<rank_id> watchers;
  detail::future_state* const state = calls.give_up(number, end, watchers);
  EXPECT_TRUE(watchers.empty());
  return state;
}

TEST(pending_calls, a_late_reply_to_a_call_that_was_given_up_is_known_once) {
  for (const auto end : {pending_calls::end::expired, pending_calls::end::cancelled}) {
    pending_calls calls;
    auto* const state = new value;
    const std::uint64_t number = calls.open(*state);
    EXPECT_FALSE(calls.forget(number)) << "it waits";
    EXPECT_EQ(give_up(calls, number, end), state);
    EXPECT_EQ(give_up(calls, number, end), nullptr);
    EXPECT_EQ(calls.count(), 0U);
    EXPECT_EQ(calls.close(number), nullptr);
    EXPECT_TRUE(calls.forget(number));
    EXPECT_FALSE(calls.forget(number)) << "forged, from here on";
    EXPECT_FALSE(calls.any_cancelled());
    state->release();
    state->release();
  }
}

TEST(pending_calls, only_a_cancelled_call_does_not_run_and_it_gets_no_reply) {
  pending_calls calls;
  auto* const state = new value;
  const std::uint64_t expired = calls.open(*state), cancelled = calls.open(*state), waits = calls.open(*state);
  EXPECT_EQ(give_up(calls, expired, pending_calls::end::expired), state);
  EXPECT_FALSE(calls.any_cancelled());
  EXPECT_EQ(give_up(calls, cancelled, pending_calls::end::cancelled), state);
  EXPECT_TRUE(calls.any_cancelled());
  EXPECT_FALSE(calls.take_cancelled(expired));
  EXPECT_FALSE(calls.take_cancelled(waits));
  EXPECT_TRUE(calls.take_cancelled(cancelled));
  EXPECT_FALSE(calls.take_cancelled(cancelled));
  EXPECT_FALSE(calls.any_cancelled());
  EXPECT_FALSE(calls.forget(cancelled)) << "a reply would be forged";
  EXPECT_EQ(calls.count(), 1U);
  for (int reference = 0; reference < 3; ++reference) state->release();  // one of `waits` is left
}

TEST(pending_calls, ranks_that_watch_a_call_are_named_when_it_is_given_up_and_when_it_is_over) {
  using standing = pending_calls::standing;
  pending_calls calls;
  auto* const state = new value;
  const std::uint64_t number = calls.open(*state), other = calls.open(*state);
  EXPECT_EQ(calls.watch(number, rank_id(3)), standing::waits);
  EXPECT_EQ(calls.watch(number, rank_id(3)), standing::waits) << "once is enough";
  EXPECT_FALSE(calls.is_given_up(number));
  std::vector<rank_id> told;
  EXPECT_EQ(calls.give_up(number, pending_calls::end::cancelled, told), state);
  EXPECT_EQ(told, std::vector{rank_id(3)});
  EXPECT_TRUE(calls.is_given_up(number));
  EXPECT_FALSE(calls.is_given_up(other));
  EXPECT_EQ(calls.watch(number, rank_id(5)), standing::given_up) << "the reply has not come";
  std::unique_ptr<call_extras> extras;
  EXPECT_TRUE(calls.forget(number, extras));
  ASSERT_NE(extras, nullptr);
  EXPECT_EQ(extras->watchers, (std::vector{rank_id(3), rank_id(5)}));
  EXPECT_EQ(calls.watch(number, rank_id(3)), standing::over);
  EXPECT_FALSE(calls.is_given_up(number));

  EXPECT_EQ(calls.watch(other, rank_id(1)), standing::waits);
  extras.reset();
  EXPECT_EQ(calls.close(other, extras), state);
  ASSERT_NE(extras, nullptr);
  EXPECT_EQ(extras->watchers, std::vector{rank_id(1)});
  EXPECT_EQ(calls.watch(0, rank_id(1)), standing::over) << "no call has this number";
  for (int reference = 0; reference < 3; ++reference) state->release();
}

/// Calls with deadlines one second after the begin of their clock.
class limited_calls : public testing::Test {
 protected:
  using seconds = std::chrono::seconds;

  std::unique_ptr<call_deadline> limit_for(std::uint64_t number) {
    return std::make_unique<call_deadline>(calls_, duties_, number, 1.0, seconds(1));
  }
  std::uint64_t open_limited() {
    const std::uint64_t number = calls_.open(*state_);
    auto limit = limit_for(number);
    call_deadline& call_deadline = *limit;
    EXPECT_TRUE(calls_.set_deadline(number, limit,
                                    [&] { static_cast<void>(duties_.timers().set(call_deadline, seconds(1))); }));
    return number;
  }
  ~limited_calls() override { state_->release(); }

  manual_clock time_;
  poll_duties duties_{time_};
  value* const state_ = new value;
  pending_calls calls_;
};

TEST_F(limited_calls, a_reply_ends_the_deadline) {
  const std::uint64_t answered = open_limited();
  static_cast<void>(open_limited());  // its deadline ends with the rank
  EXPECT_EQ(duties_.timers().created(), 2U);
  EXPECT_EQ(calls_.close(answered), state_);
  EXPECT_EQ(duties_.timers().done(), 1U);
  auto late = limit_for(answered);
  EXPECT_FALSE(calls_.set_deadline(answered, late, [] { FAIL() << "set for a call that has its result"; }));
  state_->release();
}

TEST_F(limited_calls, a_reply_behind_the_deadline_is_too_late_also_where_its_timer_has_not_fired) {
  const std::uint64_t in_time = open_limited(), late = open_limited(), unlimited = calls_.open(*state_);
  std::unique_ptr<call_extras> extras;
  time_.advance(seconds(1));
  EXPECT_FALSE(calls_.is_given_up(late));
  EXPECT_EQ(calls_.close(in_time, extras), state_);
  EXPECT_EQ(extras->too_late, std::nullopt) << "at the deadline";
  extras.reset();
  time_.advance(std::chrono::nanoseconds(1));
  EXPECT_TRUE(calls_.is_given_up(late));
  EXPECT_EQ(calls_.close(unlimited, extras), state_);
  EXPECT_EQ(extras, nullptr);
  EXPECT_EQ(calls_.close(late, extras), state_);
  EXPECT_EQ(extras->too_late, 1.0);
  EXPECT_EQ(duties_.timers().created(), duties_.timers().done());
  for (int reference = 0; reference < 3; ++reference) state_->release();
}

TEST(pending_calls, many_threads_open_and_close_their_own) {
  pending_calls calls;
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int thread = 0; thread < 3; ++thread) {
    threads.emplace_back([&] {
      auto* const state = new value;
      for (int round = 0; round < 2000; ++round) {
        if (calls.close(calls.open(*state)) != state) ++wrong;
        state->release();
      }
      state->release();
    });
  }
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(calls.count(), 0U);
}

}  // namespace
}  // namespace nacre
