// SPDX-License-Identifier: Apache-2.0
// Arrays: places, messages to all elements, reductions, elements that come, go and move.
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

constexpr std::uint64_t prime = 0x100000001b3U;

/// Notes what it has run, in order.
struct cell {
  std::int64_t i = 0, j = 0;
  std::uint64_t steps = 0;
  std::uint64_t heard = 1;  ///< stands for the messages to all elements that it has run, in their order

  void step(context& ctx, std::uint64_t how_many) {
    if (ctx.index() != nacre::index{i, j}) ++board_of(ctx.rank()).failed;
    steps += how_many;
  }
  void hear(std::uint64_t number) { heard = (heard ^ number) * prime; }
  void hop(context& ctx, std::uint64_t number) {
    hear(number);
    const rank_id target(static_cast<std::uint32_t>((heard >> 7) % ctx.size()));
    if (target != ctx.rank()) ++board_of(ctx.rank()).sum;
    ctx.migrate(ctx.self<cell>(), target);
  }
  std::uint64_t count() const { return steps; }
  std::uint64_t hash() const { return heard; }
  std::string name() const { return std::to_string(i) + "," + std::to_string(j) + ";"; }
  double share() const { return 1.0 / static_cast<double>(3 * i + j + 1); }
  std::uint32_t where(context& ctx) const { return ctx.rank().value(); }
  std::uint64_t fail_at(std::int64_t row) {
    if (i == row) throw std::out_of_range("the cell is tired");
    return 1;
  }
  /// Asks an element of column 0, which asks nobody: askers that ask each other in a circle would wait for ever.
  task<std::uint64_t> ask(context& ctx, array_ptr<cell> all) {
    const index index = all.index_of(ctx.self<cell>());
    const std::uint64_t previous = steps;
    const std::uint64_t next = co_await ctx.call<&cell::count>(all[{(index[0] + 1) % all.shape()[0], 0}]);
    co_return next * 1000 + previous;
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(i, j, steps, heard);
  }
};

struct by_column {
  rank_id operator()(const index& index, const extents&, std::uint32_t ranks) const {
    return rank_id(static_cast<std::uint32_t>(index[1]) % ranks);
  }
};

struct smaller {
  std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const { return a < b ? a : b; }
};
struct larger {
  std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const { return a < b ? b : a; }
};

constexpr int rows = 6, columns = 5;
constexpr std::uint64_t cells = rows * columns;

cell made_at(index ij) { return cell{ij[0], ij[1]}; }

/// Whether all elements of an array have heard the same, in the same order.
template <class P>
bool all_heard_the_same(runtime& rt, const array_ptr<cell, P>& grid) {
  return rt.reduce<&cell::hash>(grid, smaller{}).get() == rt.reduce<&cell::hash>(grid, larger{}).get();
}

void elements(runtime& rt, std::uint64_t) {
  fresh_board(rt);
  const auto grid = rt.create_array<cell>(extents{rows, columns}, made_at);
  const auto other = rt.create_array<cell>(extents{rows, columns}, made_at, by_column{});
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      rt.send<&cell::step>(grid[{i, j}], 1);
      rt.send<&cell::step>(other[{i, j}], 2);
      EXPECT_EQ(grid.index_of(grid[{i, j}]), (index{i, j}));
    }
  }
  rt.wait_quiescence();
  for (int i = 0; i < rows; ++i) {
    EXPECT_EQ(rt.call<&cell::count>(grid[{i, 2}]).get(), rt.size());
    EXPECT_EQ(rt.call<&cell::count>(other[{i, 2}]).get(), 2 * rt.size());
    EXPECT_EQ(rt.call<&cell::where>(other[{i, 3}]).get(), rt.home_of(other[{i, 3}]).value());
    EXPECT_EQ(rt.call<&cell::where>(grid[{i, 1}]).get(), rt.home_of(grid[{i, 1}]).value());
    EXPECT_EQ(other.home_of({i, 3}).value(), 3 % other.ranks());
    EXPECT_EQ((grid[{i, 1}].id().birth()), grid.home_of({i, 1}));
    EXPECT_EQ(rt.call<&cell::ask>(grid[{i, 1}], grid).get(), 1001 * rt.size());
  }
  EXPECT_EQ(rt.call<&cell::where>(grid[{0, 0}]).get(), rt.home_of(grid[{0, 0}]).value());
  EXPECT_EQ(grid.home_of({0, 0}).value(), 0U);
  EXPECT_EQ(grid.home_of({rows - 1, columns - 1}).value(), grid.ranks() - 1);
  rt.barrier();
  EXPECT_EQ(total(rt, &board::failed), 0U) << "an element had another index than its place";
  rt.destroy(grid);
  rt.destroy(other);
}

void broadcasts(runtime& rt, std::uint64_t) {
  fresh_board(rt);
  constexpr std::uint64_t rounds = 20;
  const auto grid = rt.create_array<cell>(extents{rows, columns}, made_at);
  const auto line = rt.create_array<cell>(
      extents{rows * columns}, [](index index) { return cell{index[0]}; }, by_block{});
  for (std::uint64_t round = 0; round < rounds; ++round) {
    rt.send<&cell::step>(grid, 1);
    rt.send<&cell::hear>(grid, round * rt.size() + rt.rank().value());
    rt.send<&cell::hear>(line, round);
  }
  const std::uint64_t most = rt.size() * rounds;
  rt.call<&cell::step>(grid, 1).get();  // comes behind the own ones
  EXPECT_GE(rt.reduce<&cell::count>(grid, smaller{}).get(), rounds + 1);
  rt.wait_quiescence();
  EXPECT_EQ(rt.reduce<&cell::count>(grid, std::plus<>{}).get(), cells * (most + rt.size()));
  EXPECT_EQ(rt.reduce<&cell::count>(grid, larger{}).get(), most + rt.size());
  EXPECT_TRUE(all_heard_the_same(rt, grid)) << "elements ran messages to all of them in different orders";
  EXPECT_TRUE(all_heard_the_same(rt, line));
  if (rt.size() == 1) {
    std::uint64_t expected = 1;
    for (std::uint64_t round = 0; round < rounds; ++round) expected = (expected ^ round) * prime;
    EXPECT_EQ(rt.call<&cell::hash>(line[7]).get(), expected) << "they overtook each other";
  }
  EXPECT_EQ(total(rt, &board::failed), 0U);
  rt.destroy(line);
  rt.destroy(grid);
}

void under_migration(runtime& rt, std::uint64_t) {
  fresh_board(rt);
  constexpr std::uint64_t rounds = 25;
  const auto grid = rt.create_array<cell>(
      extents{3, 2, 5},
      [](index index) {
        return cell{index[0], index[1]};
      },
      by_column{});
  for (std::uint64_t round = 0; round < rounds; ++round) {
    rt.send<&cell::hop>(grid, round * rt.size() + rt.rank().value());
    if (round % 4 == 0) {
      EXPECT_EQ(rt.reduce<&cell::fail_at>(grid, std::plus<>{}, -1).get(), 30U) << "not every element was counted once";
    }
  }
  rt.wait_quiescence();
  EXPECT_TRUE(all_heard_the_same(rt, grid)) << "an element missed a message, ran it twice, or in another order";
  const std::uint64_t moved = total(rt, &board::sum);
  EXPECT_TRUE(moved != 0 || rt.size() == 1) << "nobody has moved";
  rt.destroy(grid);
}

void reductions(runtime& rt, std::uint64_t) {
  fresh_board(rt);
  const auto grid = rt.create_array<cell>(extents{rows, columns}, made_at);
  std::string names;
  double sum = 0;
  for (const index& index : by_home(rt, grid)) {
    names += std::to_string(index[0]) + "," + std::to_string(index[1]) + ";";
    sum += 1.0 / static_cast<double>(3 * index[0] + index[1] + 1);
  }
  EXPECT_EQ(rt.reduce<&cell::name>(grid, std::plus<>{}).get(), names) << "not in the order of the places";
  const double first = rt.reduce<&cell::share>(grid, std::plus<>{}).get();
  EXPECT_NEAR(first, sum, 1e-12);
  EXPECT_EQ(rt.reduce<&cell::share>(grid, std::plus<>{}).get(), first) << "not bit by bit the same";
  EXPECT_EQ(rt.reduce<&cell::count>(grid, [](std::uint64_t a, std::uint64_t b) { return a + b + 1; }).get(), cells - 1);
  try {
    static_cast<void>(rt.reduce<&cell::fail_at>(grid, std::plus<>{}, 4).get());
    ADD_FAILURE();
  } catch (const call_error& error) {
    EXPECT_NE(std::string(error.what()).find("the cell is tired"), std::string::npos) << error.what();
    EXPECT_EQ(error.type(), "std::out_of_range");
  }
  EXPECT_THROW(rt.call<&cell::fail_at>(grid, 0).get(), call_error);
  EXPECT_NO_THROW(rt.call<&cell::fail_at>(grid, rows).get());
  const auto nothing = rt.create_array<cell>(extents{0, 4}, made_at);
  EXPECT_NO_THROW(rt.call<&cell::hear>(nothing, 1).get());
  EXPECT_THROW(static_cast<void>(rt.reduce<&cell::count>(nothing, std::plus<>{}).get()), call_error);
  rt.destroy(nothing);
  rt.destroy(grid);
}

task<std::uint64_t> sum_from_a_handler(context& ctx, array_ptr<cell> grid) {
  ctx.send<&cell::step>(grid, 3);
  co_return co_await ctx.reduce<&cell::count>(grid, std::plus<>{});
}

void from_handlers(runtime& rt, std::uint64_t) {
  fresh_board(rt);
  const auto grid = rt.create_array<cell>(extents{rows, columns}, made_at);
  rt.barrier();
  if (rt.rank().value() == 0) {
    EXPECT_EQ(rt.call<sum_from_a_handler>(next_of(rt), grid).get(), cells * 3);
  }
  rt.barrier();
  rt.destroy(grid);
}

void come_and_go(runtime& rt, std::uint64_t) {
  board& board = fresh_board(rt);
  rt.on_delivery_error([&board](const delivery_error& error) {
    if (error.object.is_element()) ++board.reported;
  });
  const auto grid = rt.create_array<cell>(extents{rows * 100, columns}, sparse);
  const int mine = static_cast<int>(rt.rank().value());
  rt.send<&cell::step>(grid[{mine, 3}], 1);  // to nobody, yet
  for (int round = 0; round < 4; ++round) {
    const index position{mine * 7, 1};
    rt.insert(grid, position, cell{position[0], position[1]}).get();
    EXPECT_THROW(rt.insert(grid, position, cell{position[0], position[1]}).get(), call_error) << "there is one already";
    rt.barrier();
    EXPECT_EQ(rt.reduce<&cell::fail_at>(grid, std::plus<>{}, -1).get(), rt.size());
    rt.send<&cell::step>(grid[position], 2);
    if (round % 2 == 1) rt.migrate(grid[position], next_of(rt)).get();
    EXPECT_EQ(rt.call<&cell::count>(grid[position]).get(), 2U) << "an element has something of the one before it";
    rt.barrier();
    rt.erase(grid, position).get();
    EXPECT_FALSE(rt.is_local(grid[position]));
    EXPECT_THROW(rt.erase(grid, position).get(), call_error) << "there is none any more";
    EXPECT_THROW(static_cast<void>(rt.call<&cell::count>(grid[position]).get()), call_error);
    rt.barrier();
    EXPECT_THROW(static_cast<void>(rt.reduce<&cell::count>(grid, std::plus<>{}).get()), call_error);
    rt.barrier();
  }
  const index last{mine, 3};
  rt.insert(grid, last, last[0], last[1]);
  rt.send<&cell::step>(grid[last], 5);
  EXPECT_EQ(rt.call<&cell::count>(grid[last]).get(), 5U) << "what was sent behind the insertion";
  rt.wait_quiescence();
  EXPECT_EQ(total(rt, &board::reported), rt.size());
  rt.destroy(grid);
  rt.send<&cell::step>(grid[last], 1);
  rt.send<&cell::step>(grid, 1);
  EXPECT_THROW(rt.call<&cell::step>(grid, 1).get(), call_error);
  EXPECT_THROW(rt.insert(grid, last).get(), call_error);
  rt.wait_quiescence();
  EXPECT_EQ(total(rt, &board::reported), 3 * rt.size());
}

void misuse_of_arrays(runtime& rt, std::uint64_t) {
  const auto grid = rt.create_array<cell>(extents{rows, columns}, made_at);
  EXPECT_THROW(static_cast<void>(grid[{rows, 0}]), usage_error);
  EXPECT_THROW(static_cast<void>(grid[{0, -1}]), usage_error);
  EXPECT_THROW(static_cast<void>(grid[{0}]), usage_error);
  EXPECT_THROW(static_cast<void>(array_ptr<cell>()[{0}]), usage_error);
  EXPECT_THROW(static_cast<void>(grid.index_of(mobile_ptr<cell>(object_id(rt.rank(), 5)))), usage_error);
  EXPECT_THROW((extents{4, -1}), usage_error);
  EXPECT_THROW((extents{1 << 20, 1 << 20}), usage_error);
  EXPECT_THROW(static_cast<void>(rt.create_array<cell>(extents{(std::uint64_t{1} << 39) - 2}, sparse)), usage_error);
  EXPECT_THROW(rt.send<&cell::step>(array_ptr<cell>(), 1), usage_error);
  // Names that nobody has made: of a place whose home is another rank, and of no array.
  const auto named = [&](std::uint32_t home, std::uint64_t number) {
    return mobile_ptr<cell>(object_id(rank_id(home), object_id::first_element + number));
  };
  if (rt.size() > 1) {
    EXPECT_THROW(static_cast<void>(rt.call<&cell::count>(named(rt.size() - 1, grid.first())).get()), call_error);
  }
  EXPECT_THROW(static_cast<void>(rt.call<&cell::count>(named(0, grid.first() + cells)).get()), call_error);
  EXPECT_EQ(rt.reduce<&cell::fail_at>(grid, std::plus<>{}, -1).get(), cells);
  rt.barrier();
  rt.destroy(grid);
}

constexpr std::array arrays_table{
    scenario{"elements_of_arrays_are_found_by_their_places", elements},
    scenario{"what_is_sent_to_all_elements_runs_once_on_each_in_one_order", broadcasts},
    scenario{"elements_that_keep_moving_miss_nothing_and_are_counted_once", under_migration},
    scenario{"results_of_elements_are_combined_in_the_order_of_their_places", reductions},
    scenario{"handlers_send_to_all_elements_and_await_reductions", from_handlers},
    scenario{"elements_come_and_go_and_arrays_end", come_and_go},
    scenario{"misuse_of_arrays_is_told", misuse_of_arrays},
};

}  // namespace

std::span<const scenario> array_scenarios() { return arrays_table; }

}  // namespace nacre::tests
