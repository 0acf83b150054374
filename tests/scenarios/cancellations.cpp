// SPDX-License-Identifier: Apache-2.0
// Handlers learn that their callers have given up, wherever both are, and nothing is left behind.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "runtime/engine.hpp"
#include "scenarios.hpp"

namespace nacre::tests {
namespace {

constexpr double one_nap = 1e-3, soon = 5e-3, patience = 60;  // seconds; patience ends a handler that learns nothing

std::uint64_t begun_here(context& ctx) { return board_of(ctx.rank()).seen; }
std::size_t watched_here(context& ctx) { return ctx.core().messages().cancellations().count(); }

/// Naps until the caller has given up. Leaves on the board of the rank whether that happened.
task<void> nap_until_cancelled(context& ctx) {
  ++board_of(ctx.rank()).seen;
  const double begin = ctx.now();
  while (!ctx.cancelled() && ctx.now() - begin < patience) co_await ctx.sleep(one_nap);
  ++(ctx.cancelled() ? board_of(ctx.rank()).sum : board_of(ctx.rank()).failed);
}

/// Computes until the caller has given up, and lets no other handler have the worker. Virtual time stands still while a
/// handler computes, so nothing can come then.
void compute_until_cancelled(context& ctx) {
  ++board_of(ctx.rank()).seen;
  const double begin = ctx.now();
  for (int round = 0; !ctx.cancelled() && ctx.now() - begin < patience; ++round) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(100);
    while (std::chrono::steady_clock::now() < until) continue;
    if (round == 20 && ctx.now() - begin < 1e-3) {  // what the questions cost is less
      ++board_of(ctx.rank()).reported;
      return;
    }
  }
  ++(ctx.cancelled() ? board_of(ctx.rank()).sum : board_of(ctx.rank()).failed);
}

/// Nobody gives it up, so it is told nothing of the kind.
task<bool> asks_three_times(context& ctx) {
  bool told = ctx.cancelled();
  co_await ctx.sleep(soon);
  told |= ctx.cancelled();
  co_await ctx.sleep(soon);
  co_return told || ctx.cancelled();
}
void asks_without_a_caller(context& ctx) {
  ++board_of(ctx.rank()).seen;
  board_of(ctx.rank()).failed += ctx.cancelled() ? 1 : 0;
}

struct napper {
  std::uint64_t asked = 0;
  task<void> nap(context& ctx) { return nap_until_cancelled(ctx); }
  bool asks(context& ctx) {
    ++asked;
    return ctx.cancelled();
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(asked);
  }
};

/// Waits until so many handlers have begun on a rank.
void await_begin(runtime& rt, rank_id rank, std::uint64_t count) {
  while (rt.call<begun_here>(with{.category = category::communication}, rank).get() < count) rt.sleep(one_nap).get();
}

/// Waits until no rank watches a call any more: the last news may still be under way when the job is quiet.
void expect_nothing_left(runtime& rt) {
  rt.wait_quiescence();
  const double begin = rt.now();
  while (rt.all_reduce(rt.call<watched_here>(rt.rank()).get(), std::plus<>{}) != 0) {
    const bool late = rt.all_reduce(rt.now() - begin, [](double a, double b) { return std::max(a, b); }) > patience;
    ASSERT_FALSE(late) << "calls are watched that are over";
    rt.sleep(one_nap).get();
  }
}

void given_up_by_cancel(runtime& rt, std::uint64_t) {
  fresh_board(rt);
  future<void> call = rt.call<nap_until_cancelled>(next_of(rt));
  await_begin(rt, next_of(rt), 1);
  call.cancel();
  EXPECT_THROW(call.get(), call_error);
  rt.wait_quiescence();
  EXPECT_EQ(total(rt, &board::sum), rt.size());
  EXPECT_EQ(total(rt, &board::failed), 0U);
  expect_nothing_left(rt);
}

void given_up_by_deadline(runtime& rt, std::uint64_t) {
  fresh_board(rt);
  EXPECT_THROW(rt.call<nap_until_cancelled>(with{.deadline = soon}, next_of(rt)).get(), timeout_error);
  EXPECT_THROW(rt.call<nap_until_cancelled>(with{.deadline = 0}, next_of(rt)).get(), timeout_error);
  rt.wait_quiescence();
  EXPECT_EQ(total(rt, &board::sum), 2U * rt.size());
  EXPECT_EQ(total(rt, &board::failed), 0U);
  expect_nothing_left(rt);
}

/// Waits for a result that may not come.
void ignore(future<void>& result) {
  try {
    result.get();
  } catch (const call_error&) {
  }
}

/// The handler has the only worker of its rank: somebody else polls there.
void given_up_while_it_computes(runtime& rt, std::uint64_t) {
  fresh_board(rt);
  const bool calls = rt.rank() == rank_id(0) && rt.size() > 1;
  if (calls) {
    future<void> call = rt.call<compute_until_cancelled>(next_of(rt));
    await_begin(rt, next_of(rt), 1);
    call.cancel();
    ignore(call);
    future<void> limited = rt.call<compute_until_cancelled>(with{.deadline = soon}, next_of(rt));
    ignore(limited);
  }
  rt.wait_quiescence();
  EXPECT_EQ(total(rt, &board::sum) + total(rt, &board::reported), rt.size() > 1 ? 2U : 0U);
  EXPECT_EQ(total(rt, &board::failed), 0U);
  expect_nothing_left(rt);
}

void not_given_up(runtime& rt, std::uint64_t) {
  fresh_board(rt);
  const auto grid = rt.create_array<napper>(extents{2 * std::int64_t{rt.size()}});
  rt.send<asks_without_a_caller>(next_of(rt));
  EXPECT_FALSE(rt.call<asks_three_times>(next_of(rt)).get());
  EXPECT_FALSE(rt.call<asks_three_times>(with{.deadline = 10 * patience}, next_of(rt)).get());
  static_cast<void>(rt.call<asks_three_times>(next_of(rt)));  // dropped, which gives nothing up
  EXPECT_FALSE(rt.call<&napper::asks>(grid[std::int64_t{next_of(rt).value()}]).get());
  EXPECT_FALSE(rt.reduce<&napper::asks>(grid, std::logical_or<>{}).get());
  rt.wait_quiescence();
  EXPECT_EQ(total(rt, &board::seen), rt.size());
  EXPECT_EQ(total(rt, &board::failed), 0U);
  expect_nothing_left(rt);
  rt.destroy(grid);
}

/// The message follows the object to another rank, and the question goes back to the caller.
void given_up_behind_a_move(runtime& rt, std::uint64_t) {
  fresh_board(rt);
  const mobile_ptr<napper> object = rt.create<napper>();
  future<void> moved = rt.migrate(object, next_of(rt));
  future<void> call = rt.call<&napper::nap>(object);
  moved.get();
  await_begin(rt, next_of(rt), 1);
  call.cancel();
  EXPECT_THROW(call.get(), call_error);
  EXPECT_FALSE(rt.call<&napper::asks>(object).get()) << "it has ended, and the object is free";
  rt.wait_quiescence();
  EXPECT_EQ(total(rt, &board::sum), rt.size());
  EXPECT_EQ(total(rt, &board::failed), 0U);
  expect_nothing_left(rt);
  rt.destroy(object);
}

task<int> naps_and_ends(context& ctx, int naps) {
  for (int nap = 0; nap < naps && !ctx.cancelled(); ++nap) co_await ctx.sleep(one_nap / 4);
  co_return naps;
}

void many_at_a_time(runtime& rt, std::uint64_t seed) {
  constexpr int calls = 1000;
  std::vector<future<int>> futures;
  for (int call = 0; call < calls; ++call) {
    const double deadline = call % 3 == 0 ? one_nap * (call % 7) / 7 : 10 * patience;
    futures.push_back(rt.call<naps_and_ends>(with{.deadline = deadline}, next_of(rt), call % 5));
  }
  for (int call = static_cast<int>(seed % 2); call < calls; call += 2) futures[static_cast<std::size_t>(call)].cancel();
  int ended = 0, given_up = 0;
  for (future<int>& each : futures) {
    try {
      static_cast<void>(each.get());
      ++ended;
    } catch (const call_error&) {
      ++given_up;
    }
  }
  EXPECT_EQ(ended + given_up, calls);
  expect_nothing_left(rt);
}

constexpr scenario all_of_cancellations[] = {
    {"a_handler_learns_that_its_call_was_cancelled", &given_up_by_cancel},
    {"a_handler_learns_that_the_deadline_of_its_call_is_over", &given_up_by_deadline},
    {"a_handler_that_keeps_its_worker_learns_that_its_call_was_cancelled", &given_up_while_it_computes},
    {"a_handler_whose_caller_waits_is_not_cancelled", &not_given_up},
    {"a_handler_learns_that_its_call_was_cancelled_where_its_object_has_moved", &given_up_behind_a_move},
    {"handlers_that_ask_leave_nothing_behind", &many_at_a_time},
};

}  // namespace

std::span<const scenario> cancellation_scenarios() { return all_of_cancellations; }

}  // namespace nacre::tests
