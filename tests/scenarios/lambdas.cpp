// SPDX-License-Identifier: Apache-2.0
// Lambdas as handlers: on ranks, on objects and arrays, of one type each, also where the compiler gives them one name.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "scenarios.hpp"

namespace nacre::tests {
namespace {

void run_on_ranks(runtime& rt, std::uint64_t seed) {
  board& board = fresh_board(rt);
  const auto given = static_cast<std::uint32_t>(seed);
  rt.send(
      next_of(rt), [](context& ctx, std::string text) { board_of(ctx.rank()).sum += text.size(); }, "world");
  rt.send(
      to_all, [](context& ctx, std::uint32_t n) { board_of(ctx.rank()).seen += n; }, given);
  rt.send(with{.category = category::communication}, next_of(rt),
          [](context& ctx) { ++board_of(ctx.rank()).reported; });
  rt.wait_quiescence();
  EXPECT_EQ(board.sum, 5U);
  EXPECT_EQ(board.seen, given * rt.size());
  EXPECT_EQ(board.reported, 1U);
  EXPECT_EQ(rt.call(
                  next_of(rt), [](int a, int b) { return a + b; }, 2, 3)
                .get(),
            5);
  EXPECT_EQ(rt.call(
                  next_of(rt), [](std::vector<int> all) { return all; }, std::vector{1, 2})
                .get(),
            (std::vector{1, 2}));
  EXPECT_THROW(rt.call(next_of(rt), [] { throw std::runtime_error("no"); }).get(), call_error);
  rt.on_quiescence([](context& ctx, std::uint64_t n) { board_of(ctx.rank()).failed += n; }, seed);
  rt.wait_quiescence();
  rt.wait_quiescence();  // the first is what the handler waits for, too
  EXPECT_EQ(board.failed, seed);
}

/// Handlers that only their lambda tells apart, as those of containers are.
template <class L>
std::uint64_t visit(context& ctx, std::uint64_t value) {
  return L{}(value) + ctx.rank().value();
}
template <class L>
std::uint64_t visit_next(runtime& rt, L, std::uint64_t value) {
  return rt.call<visit<L>>(next_of(rt), value).get() - next_of(rt).value();
}

void keep_like_ones_apart(runtime& rt, std::uint64_t) {
  const auto ask = [&](auto f) { return rt.call(next_of(rt), f, 10).get(); };
  EXPECT_EQ(ask([](int n) { return n + 1; }), 11);
  EXPECT_EQ(ask([](int n) { return n + 2; }), 12);
  EXPECT_EQ(ask([](int n) { return n + 3; }), 13);
  EXPECT_EQ(visit_next(
                rt, [](std::uint64_t n) { return n * 2; }, 7),
            14U);
  EXPECT_EQ(visit_next(
                rt, [](std::uint64_t n) { return n * 3; }, 7),
            21U);
}

/// The closures are long gone when these go on.
void suspend(runtime& rt, std::uint64_t) {
  const auto twice = [](context& ctx, std::vector<int> all) -> task<int> {
    int sum = 0;
    for (const int each : all) {
      sum += co_await ctx.call(
          next_of(ctx), [](int n) { return 2 * n; }, each);
    }
    co_return sum;
  };
  EXPECT_EQ(rt.call(next_of(rt), twice, std::vector{1, 2, 3}).get(), 12);
}

struct jar {
  std::uint64_t held = 0;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(held);
  }
};
struct labelled_jar : jar {};

void run_on_objects(runtime& rt, std::uint64_t seed) {
  const auto p = rt.create_on<labelled_jar>(next_of(rt)).get();
  rt.send(
      p, [](labelled_jar& j, context&, std::uint64_t n) { j.held += n; }, seed);
  rt.send(p, [](jar& j) { ++j.held; });
  rt.send(with{.channel = channel::application}, p, [](jar& j) { ++j.held; });
  EXPECT_EQ(rt.call(p, [](const jar& j) { return j.held; }).get(), seed + 2);
  EXPECT_EQ(rt.call(
                  p, [](const jar& j, context& ctx, std::uint64_t n) { return j.held + n - ctx.rank().value(); },
                  next_of(rt).value())
                .get(),
            seed + 2);
  rt.migrate(p, rt.rank()).get();
  const auto drain = [](jar& j, context& ctx) -> task<std::uint64_t> {
    const std::uint64_t previous = j.held;
    j.held = co_await ctx.call(next_of(ctx), [] { return std::uint64_t{1}; });
    co_return previous + j.held;
  };
  EXPECT_EQ(rt.call(p, drain).get(), seed + 3);
  const auto q = rt.create<jar>();
  rt.colocate(
      p, q, [](labelled_jar& source, jar& target, std::uint64_t n) { target.held = source.held + n; }, 10U);
  EXPECT_EQ(rt.call(q, [](const jar& j) { return j.held; }).get(), 11U);
  EXPECT_EQ(rt.colocate_call(p, q, [](context&, labelled_jar& a, jar& b) { return a.held + b.held; }).get(), 12U);
  rt.destroy(p);
  rt.destroy(q);
}

void run_on_arrays(runtime& rt, std::uint64_t seed) {
  const auto row = rt.create_array<jar>(extents{12});
  if (rt.rank().value() == 0) {
    rt.call(
          row, [](jar& j, context& ctx, std::uint64_t n) { j.held = n + ctx.index()[0]; }, seed)
        .get();
    rt.call(row[3], [](jar& j) { j.held += 100; }).get();
    const auto sum = [&](auto op) {
      return rt
          .reduce(
              row, [](const jar& j) { return j.held; }, op)
          .get();
    };
    EXPECT_EQ(sum(std::plus<>{}), 12 * seed + 66 + 100);
    EXPECT_EQ(sum([](std::uint64_t a, std::uint64_t b) { return a > b ? a : b; }), seed + 103);
    EXPECT_EQ(sum([](std::uint64_t a, std::uint64_t b) { return a < b ? a : b; }), seed);
    EXPECT_EQ(rt.reduce(
                    row, [](const jar& j, std::uint64_t n) { return j.held * n; }, std::plus<>{}, 2U)
                  .get(),
              2 * (12 * seed + 166));
    rt.send(row, [](jar& j) { j.held = 1; });
    EXPECT_EQ(sum(std::plus<>{}), 12U);
  }
  rt.barrier();
  rt.destroy(row);
}

constexpr std::array lambdas_table{
    scenario{"lambdas_run_on_ranks", run_on_ranks},
    scenario{"lambdas_of_one_name_are_kept_apart", keep_like_ones_apart},
    scenario{"lambdas_suspend_and_go_on", suspend},
    scenario{"lambdas_run_on_objects_and_move_with_them", run_on_objects},
    scenario{"lambdas_run_on_arrays", run_on_arrays},
};

}  // namespace

std::span<const scenario> lambda_scenarios() { return lambdas_table; }

}  // namespace nacre::tests
