// SPDX-License-Identifier: Apache-2.0
// Sleeps, time limits, deadlines, messages that are sent later, and the first or all of several futures.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "scenarios.hpp"

namespace nacre::tests {
namespace {

constexpr double shortly = 2e-3, long_after = 1e3;  // seconds: long enough to be no accident, and never waited for
constexpr double rounding = 1e-9;                   // of differences between readings of the clock

int doubled(int index) { return 2 * index; }
int refuses(int) { throw std::runtime_error("no"); }
void note(context& ctx, std::uint64_t number) {
  board_of(ctx.rank()).sum += number;
  ++board_of(ctx.rank()).seen;
}

/// Seconds that a sleep of so many took.
task<double> sleeps(context& ctx, double seconds) {
  const double begin = ctx.now();
  co_await ctx.sleep(seconds);
  co_return ctx.now() - begin;
}

struct sleeper {
  std::uint64_t visits = 0;
  void visit() { ++visits; }
  std::uint64_t count() const { return visits; }
  task<void> rest(context& ctx, double seconds) const { co_await ctx.sleep(seconds); }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(visits);
  }
};

void sleeping(runtime& rt, std::uint64_t) {
  EXPECT_GE(rt.call<sleeps>(next_of(rt), shortly).get(), shortly - rounding);
  const double begin = rt.now();
  rt.sleep(shortly).wait();
  EXPECT_GE(rt.now() - begin, shortly - rounding);
  rt.sleep(0).get();
  rt.sleep(-1).get();
  EXPECT_THROW(static_cast<void>(rt.sleep(std::numeric_limits<double>::quiet_NaN())), usage_error);
  std::vector<future<double>> many;
  for (int index = 0; index < 1000; ++index) many.push_back(rt.call<sleeps>(next_of(rt), shortly * (index % 10) / 10));
  for (const double each : when_all(std::move(many)).get()) EXPECT_GE(each, 0);
  static_cast<void>(rt.sleep(long_after));  // dropped, so the job ends before
}

void waiting_for_a_while(runtime& rt, std::uint64_t) {
  {
    future<void> late = rt.sleep(long_after);
    EXPECT_FALSE(late.wait_for(0));
    EXPECT_FALSE(late.wait_for(shortly));
    EXPECT_TRUE(late.valid());
  }
  future<double> f = rt.call<sleeps>(next_of(rt), 10 * shortly);
  EXPECT_TRUE(f.wait_for(long_after));
  EXPECT_TRUE(f.wait_for(0));
  EXPECT_GE(f.get(), 10 * shortly - rounding);
  future<int> g = rt.call<doubled>(next_of(rt), 4);
  EXPECT_TRUE(g.wait_until(rt.now() + long_after));
  EXPECT_EQ(g.get(), 8);
  EXPECT_THROW(static_cast<void>(g.wait_for(1)), usage_error);
  for (int round = 0; round < 200; ++round) {  // result and time come at about one moment
    future<int> h = rt.call<doubled>(next_of(rt), round);
    while (!h.wait_for(1e-6 * (round % 20))) continue;
    EXPECT_EQ(h.get(), 2 * round);
  }
}

task<int> first_in_handler(context& ctx, rank_id rank) {
  future<double> slow = ctx.call<sleeps>(rank, 5 * shortly);
  future<int> fast = ctx.call<doubled>(rank, 21);
  const std::size_t index = co_await when_any(slow, fast);
  EXPECT_TRUE(index == 1 ? fast.ready() : slow.ready());
  const int value = co_await fast;
  EXPECT_FALSE(fast.valid());
  EXPECT_GE(co_await slow, 5 * shortly - rounding);  // it can be waited for after when_any
  if (index != 1) co_return value;
  future<double> never = ctx.call<sleeps>(rank, shortly);
  if (co_await when_any(never, ctx.sleep(long_after)) != 0) co_return 0;
  co_await std::move(never);
  co_return value;
}

void first_of_several(runtime& rt, std::uint64_t) {
  EXPECT_EQ(rt.call<first_in_handler>(next_of(rt), rt.rank()).get(), 42);
  future<int> fails = rt.call<refuses>(next_of(rt), 1);
  future<double> slow = rt.call<sleeps>(next_of(rt), 20 * shortly);
  future<void> late = rt.sleep(long_after);
  EXPECT_EQ(when_any(late, fails).get(), 1U);  // an error counts
  EXPECT_THROW(fails.get(), call_error);
  {
    future<void> later = rt.sleep(long_after);
    const future<std::size_t> dropped = when_any(late, later);
    EXPECT_THROW(late.wait(), usage_error) << "two wait for one future";
    EXPECT_THROW(static_cast<void>(when_any(late)), usage_error);
    EXPECT_THROW(late.cancel(), usage_error);
  }
  EXPECT_GE(slow.get(), 20 * shortly - rounding);

  std::vector<future<int>> many;
  for (int index = 0; index < 20; ++index) many.push_back(rt.call<doubled>(next_of(rt), index));
  int sum = 0;
  while (!many.empty()) {
    const std::size_t number = when_any(many).get();
    sum += many[number].get();
    many.erase(many.begin() + static_cast<std::ptrdiff_t>(number));
  }
  EXPECT_EQ(sum, 380);
  EXPECT_THROW(static_cast<void>(when_any(many)), usage_error);
  future<int> none, twice = rt.call<doubled>(next_of(rt), 1);
  EXPECT_THROW(static_cast<void>(when_any(twice, none)), usage_error);
  EXPECT_EQ(twice.get(), 2);
}

task<int> all_in_handler(context& ctx, rank_id rank) {
  future<int> f = ctx.call<doubled>(rank, 4);
  future<double> g = ctx.call<sleeps>(rank, shortly);
  auto [x, y, slept] = co_await when_all(f, g, ctx.sleep(shortly));
  static_assert(std::is_same_v<decltype(slept), std::monostate>);
  co_return y >= shortly - rounding && !f.valid() ? x : 0;
}

void all_of_several_types(runtime& rt, std::uint64_t) {
  EXPECT_EQ(rt.call<all_in_handler>(next_of(rt), rt.rank()).get(), 8);
  auto [x, text] = when_all(rt.call<doubled>(next_of(rt), 1), rt.call<sleeps>(next_of(rt), 0.0)).get();
  EXPECT_EQ(x, 2);
  EXPECT_GE(text, 0);
  EXPECT_THROW(static_cast<void>(when_all(rt.call<doubled>(next_of(rt), 1), rt.call<refuses>(next_of(rt), 1)).get()),
               call_error);
  future<int> none, one = rt.call<doubled>(next_of(rt), 3);
  EXPECT_THROW(static_cast<void>(when_all(one, none)), usage_error);
  EXPECT_EQ(one.get(), 6) << "nothing was taken";
  static_cast<void>(when_all(rt.call<doubled>(next_of(rt), 1), rt.sleep(long_after)));
}

task<std::string> misses_deadline(context& ctx, rank_id rank) {
  try {
    static_cast<void>(co_await ctx.call<sleeps>(with{.deadline = shortly}, rank, 100 * shortly));
  } catch (const timeout_error& error) {
    co_return error.what();
  }
  co_return "";
}

void deadlines(runtime& rt, std::uint64_t) {
  EXPECT_NE(rt.call<misses_deadline>(next_of(rt), rt.rank()).get().find("no result within 0.002 s"), std::string::npos);
  future<double> late = rt.call<sleeps>(with{.deadline = shortly}, next_of(rt), 100 * shortly);
  EXPECT_THROW(static_cast<void>(late.get()), timeout_error);
  EXPECT_EQ(rt.call<doubled>(with{.deadline = long_after}, next_of(rt), 5).get(), 10);
  EXPECT_THROW(rt.send<note>(with{.deadline = 1}, next_of(rt), 1), usage_error);
  const auto object = rt.create<sleeper>();
  auto rests = rt.call<&sleeper::rest>(with{.deadline = shortly}, object, 100 * shortly);
  EXPECT_THROW(when_all(std::move(rests)).get(), timeout_error) << "the type of the error survives";
  EXPECT_EQ(rt.call<&sleeper::count>(with{.deadline = long_after}, object).get(), 0U);
  for (int round = 0; round < 200; ++round) {  // result and deadline come at about one moment
    try {
      EXPECT_EQ(rt.call<doubled>(with{.deadline = 1e-6 * (round % 20)}, next_of(rt), round).get(), 2 * round);
    } catch (const timeout_error&) {
    }
  }
  rt.destroy(object);
}

void later(runtime& rt, std::uint64_t) {
  fresh_board(rt);
  const auto object = rt.create<sleeper>();
  rt.after<note>(shortly, 1);
  rt.after<note>(0, 10);
  rt.after<&sleeper::visit>(shortly, object);
  delayed_message taken_back = rt.after<note>(long_after, 100);
  EXPECT_TRUE(taken_back.cancel());
  EXPECT_FALSE(taken_back.cancel());
  delayed_message sent = rt.after<note>(0, 1000);
  rt.wait_quiescence();
  EXPECT_FALSE(sent.cancel()) << "quiet only when all have run";
  EXPECT_EQ(total(rt, &board::sum), 1011 * std::uint64_t{rt.size()});
  EXPECT_EQ(total(rt, &board::seen), 3 * std::uint64_t{rt.size()});
  EXPECT_EQ(rt.call<&sleeper::count>(object).get(), 1U);
  rt.destroy(object);
}

void cancelling(runtime& rt, std::uint64_t) {
  fresh_board(rt);
  future<double> runs = rt.call<sleeps>(next_of(rt), 100 * shortly);
  runs.cancel();
  EXPECT_TRUE(runs.ready());
  EXPECT_THROW(static_cast<void>(runs.get()), call_error);
  EXPECT_THROW(runs.cancel(), usage_error) << "it gave its value";
  future<void> asleep = rt.sleep(long_after);
  asleep.cancel();
  EXPECT_THROW(asleep.get(), call_error);
  future<void> for_ever = rt.sleep(std::numeric_limits<double>::infinity());
  EXPECT_FALSE(for_ever.wait_for(shortly));
  for_ever.cancel();
  EXPECT_THROW(for_ever.get(), call_error);
  EXPECT_THROW(rt.after<note>(std::numeric_limits<double>::infinity(), 1), usage_error);
  future<int> done = rt.call<doubled>(next_of(rt), 3);
  done.wait();
  done.cancel();
  EXPECT_EQ(done.get(), 6) << "too late, and no harm";
  std::vector<future<void>> many;
  for (std::uint64_t index = 0; index < 50; ++index) many.push_back(rt.call<note>(rt.rank(), 1));
  for (future<void>& each : many) each.cancel();
  many.clear();
  rt.wait_quiescence();  // each has run or was dropped, and is counted once
  EXPECT_LE(board_of(rt.rank()).seen, 50U);
}

/// What is dropped here is left to the leak checker, and to the wait for quiescence.
void dropping(runtime& rt, std::uint64_t) {
  const double never = std::numeric_limits<double>::infinity();
  for (int round = 0; round < 50; ++round) {
    std::vector<future<void>> parts;
    for (const double seconds : {never, long_after, 1e-6 * (round % 30)}) parts.push_back(rt.sleep(seconds));
    static_cast<void>(when_all(std::move(parts)));
    static_cast<void>(when_all(rt.sleep(long_after), rt.call<doubled>(next_of(rt), 1), rt.sleep(0)));
    auto all = when_all(rt.sleep(1e-6 * (round % 20)), when_any(rt.sleep(long_after), rt.sleep(never)));
    EXPECT_EQ(when_any(all, rt.sleep(1e-5)).get(), 1U);
  }
  future<void> once = rt.sleep(0);
  EXPECT_THROW(static_cast<void>(when_all(once, once)), usage_error);
  once.wait();
  rt.wait_quiescence();
}

constexpr std::array time_table{
    scenario{"a_sleep_lasts_its_time_and_no_worker_waits", &sleeping},
    scenario{"main_waits_for_a_while_and_may_wait_again", &waiting_for_a_while},
    scenario{"when_any_names_the_first_and_leaves_the_others_as_they_are", &first_of_several},
    scenario{"when_all_of_several_types_gives_a_tuple", &all_of_several_types},
    scenario{"a_call_fails_at_its_deadline_and_a_late_result_is_dropped", &deadlines},
    scenario{"a_message_is_sent_later_unless_it_is_taken_back", &later},
    scenario{"several_that_are_dropped_leave_nothing_behind", &dropping},
    scenario{"a_cancelled_call_fails_at_once_and_counts_once", &cancelling},
};

}  // namespace

std::span<const scenario> time_scenarios() { return time_table; }

}  // namespace nacre::tests
