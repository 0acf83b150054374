// SPDX-License-Identifier: Apache-2.0
// Contributions: steps that overlap, elements that move between them, targets, elements that come and go.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "scenarios.hpp"

namespace nacre::tests {
namespace {

/// Notes the result of each step.
struct collector {
  std::map<std::uint64_t, std::string> texts{};
  std::map<std::uint64_t, double> sums{};
  std::uint64_t repeated = 0;

  void on_text(context&, std::uint64_t step, const std::string& text) {
    if (!texts.emplace(step, text).second) ++repeated;
  }
  void on_sum(context&, std::uint64_t step, double sum) {
    if (!sums.emplace(step, sum).second) ++repeated;
  }
  std::string text(std::uint64_t step) const { return texts.contains(step) ? texts.at(step) : "none"; }
  double sum(std::uint64_t step) const { return sums.contains(step) ? sums.at(step) : -1; }
  std::uint64_t count() const { return texts.size() + sums.size(); }
  std::uint64_t twice() const { return repeated; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(texts, sums, repeated);
  }
};

void count_on_rank(context& ctx, std::uint64_t step, std::uint64_t sum) {
  ++board_of(ctx.rank()).seen;
  board_of(ctx.rank()).sum += step * 1000 + sum;
}

struct giver {
  std::uint64_t heard = 0;

  double share(context& ctx) const { return 1.0 / static_cast<double>(3 * ctx.index()[0] + ctx.index()[1] + 1); }
  void give_text(context& ctx, std::uint64_t step, mobile_ptr<collector> object) {
    ctx.contribute<&collector::on_text>(
        step, std::to_string(ctx.index()[0]) + "," + std::to_string(ctx.index()[1]) + ";", std::plus<>{}, object);
  }
  /// Two steps at a time, the later one first; then moves on.
  void give_and_go(context& ctx, std::uint64_t step, mobile_ptr<collector> object) {
    ctx.contribute<&collector::on_sum>(step + 1, share(ctx), std::plus<>{}, object);
    ctx.contribute<&collector::on_sum>(step, share(ctx), std::plus<>{}, object);
    const auto hash = static_cast<std::uint32_t>((step + 3) * static_cast<std::uint64_t>(ctx.index()[0] + 7) >> 1);
    ctx.migrate(ctx.self<giver>(), rank_id((hash + static_cast<std::uint32_t>(ctx.index()[1])) % ctx.size()));
  }
  void give_number(context& ctx, std::uint64_t step, mobile_ptr<collector> object) const {
    ctx.contribute<&collector::on_sum>(step, 1, std::plus<>{}, object);
  }
  void give_to_rank(context& ctx, std::uint64_t step, rank_id target) {
    ctx.contribute<&count_on_rank>(step, 1U, std::plus<>{}, target);
  }
  void give_to_all(context& ctx, std::uint64_t step, array_ptr<giver> array) {
    ctx.contribute<&giver::hear>(step, 1U, std::plus<>{}, array);
  }
  void hear(context&, std::uint64_t step, std::uint64_t sum) { heard += step * 1000 + sum; }
  std::uint64_t what() const { return heard; }
  task<void> give_late(context& ctx, std::uint64_t step, mobile_ptr<collector> object, array_ptr<giver> array) {
    if (ctx.index() != nacre::index{0, 0}) co_await ctx.call<&giver::what>(array[{0, 0}]);
    ctx.contribute<&collector::on_sum>(step, 1, std::plus<>{}, object);
  }
  void give_and_end(context& ctx, std::uint64_t step, mobile_ptr<collector> object) {
    give_number(ctx, step, object);
    ctx.destroy(ctx.self<giver>());
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(heard);
  }
};

constexpr int giver_rows = 5, giver_columns = 4;

struct givers_by_column {
  rank_id operator()(const index& index, const extents&, std::uint32_t ranks) const {
    return rank_id(static_cast<std::uint32_t>(index[1]) % ranks);
  }
};

mobile_ptr<collector> shared_collector(runtime& rt) {
  return rt.broadcast(rt.rank().value() == 0 ? rt.create<collector>() : mobile_ptr<collector>(), rank_id(0));
}

void order_of_places(runtime& rt, std::uint64_t) {
  const auto object = shared_collector(rt);
  const auto grid = rt.create_array<giver>(extents{giver_rows, giver_columns});
  const auto across = rt.create_array<giver>(
      extents{giver_rows, giver_columns}, [](const index&) { return giver(); }, givers_by_column{});
  if (rt.rank().value() == 0) {
    rt.send<&giver::give_text>(grid, 0, object);
    rt.send<&giver::give_text>(across, 1, object);
  }
  rt.wait_quiescence();
  const auto text_of = [](const std::vector<index>& places) {
    std::string text;
    for (const index& position : places) text += std::to_string(position[0]) + "," + std::to_string(position[1]) + ";";
    return text;
  };
  EXPECT_EQ(rt.call<&collector::text>(object, 0).get(), text_of(by_home(rt, grid)));
  EXPECT_EQ(rt.call<&collector::text>(object, 1).get(), text_of(by_home(rt, across)));
  rt.barrier();
  rt.destroy(across);
  rt.destroy(grid);
}

void on_the_move(runtime& rt, std::uint64_t) {
  constexpr std::uint64_t steps = 40;
  const auto object = shared_collector(rt);
  const auto grid = rt.create_array<giver>(extents{giver_rows, giver_columns});
  if (rt.rank().value() == rt.size() - 1) {
    for (std::uint64_t step = 0; step < steps; step += 2) rt.send<&giver::give_and_go>(grid, step, object);
  }
  rt.wait_quiescence();
  EXPECT_EQ(rt.call<&collector::count>(object).get(), steps);
  EXPECT_EQ(rt.call<&collector::twice>(object).get(), 0U);
  const double first = rt.call<&collector::sum>(object, 0).get();
  EXPECT_GT(first, 1);
  for (std::uint64_t step = 1; step < steps; ++step)
    EXPECT_EQ(rt.call<&collector::sum>(object, step).get(), first) << step;
  rt.barrier();
  rt.destroy(grid);
}

void targets(runtime& rt, std::uint64_t) {
  board& board = fresh_board(rt);
  const auto grid = rt.create_array<giver>(extents{giver_rows, giver_columns});
  const auto others = rt.create_array<giver>(extents{3, 1});
  const rank_id last(rt.size() - 1);
  if (rt.rank().value() == 0) {
    rt.send<&giver::give_to_rank>(grid, 3, last);
    rt.send<&giver::give_to_rank>(grid, 4, last);
    rt.send<&giver::give_to_all>(grid, 5, others);
  }
  rt.wait_quiescence();
  if (rt.rank() == last) {
    EXPECT_EQ(board.seen, 2U);
    EXPECT_EQ(board.sum, 7000U + 2 * giver_rows * giver_columns);
  }
  EXPECT_EQ(rt.reduce<&giver::what>(others, std::plus<>{}).get(), 3 * (5000U + giver_rows * giver_columns));
  rt.barrier();
  rt.destroy(others);
  rt.destroy(grid);
}

void coming_and_going(runtime& rt, std::uint64_t) {
  const auto object = shared_collector(rt);
  const auto grid = rt.create_array<giver>(extents{giver_rows, giver_columns}, sparse);
  const auto sum = [&](std::uint64_t step) {
    rt.wait_quiescence();
    const double found_value = rt.call<&collector::sum>(object, step).get();
    rt.barrier();
    return found_value;
  };
  const bool leads = rt.rank().value() == 0;
  if (leads) rt.insert(grid, index{giver_rows - 1, 0}).get();  // all ranks but one are without elements
  rt.barrier();
  if (leads) rt.send<&giver::give_number>(grid, 0, object);
  EXPECT_EQ(sum(0), 1);
  if (leads) {
    for (int j = 0; j < giver_columns; ++j) rt.insert(grid, index{0, j}).get();
    rt.send<&giver::give_late>(grid, 1, object, grid);
  }
  EXPECT_EQ(sum(1), giver_columns + 1);
  // An element gives its value, away from home, and ends; the others come later.
  if (leads) {
    rt.migrate(grid[{0, 1}], rank_id(rt.size() - 1)).get();
    rt.send<&giver::give_and_end>(grid[{0, 1}], 2, object);
    rt.erase(grid, index{0, 2}).get();
    for (const int j : {0, 3}) rt.send<&giver::give_number>(grid[{0, j}], 2, object);
    rt.send<&giver::give_number>(grid[{giver_rows - 1, 0}], 2, object);
  }
  EXPECT_EQ(sum(2), 4);
  // The element that is missing ends.
  if (leads) {
    for (const int j : {0, 3}) rt.send<&giver::give_number>(grid[{0, j}], 3, object);
    rt.erase(grid, index{giver_rows - 1, 0}).get();
  }
  EXPECT_EQ(sum(3), 2);
  if (leads) {
    rt.erase(grid, index{0, 0}).get();
    rt.erase(grid, index{0, 3}).get();
    rt.insert(grid, index{2, 2}).get();
    rt.send<&giver::give_number>(grid, 4, object);
  }
  EXPECT_EQ(sum(4), 1);
  rt.destroy(grid);
}

/// Its homes have elements at first, then one after the other has none.
void becoming_vacant(runtime& rt, std::uint64_t) {
  const auto object = shared_collector(rt);
  const auto grid = rt.create_array<giver>(extents{giver_rows, giver_columns});
  for (int i = 0; i < giver_rows; ++i) {
    if (rt.rank().value() == 0) {
      for (int j = 0; j < giver_columns; ++j) {
        if (i > 0) rt.erase(grid, index{i - 1, j});  // its future is dropped: contributions overtake it
      }
      for (int row = i; row < giver_rows; ++row) {
        for (int j = 0; j < giver_columns; ++j)
          rt.send<&giver::give_and_go>(grid[{row, j}], 2 * static_cast<std::uint64_t>(i), object);
      }
    }
    rt.wait_quiescence();
  }
  EXPECT_EQ(rt.call<&collector::count>(object).get(), 2U * giver_rows);
  rt.barrier();
  rt.destroy(grid);
}

constexpr std::array contributions_table{
    scenario{"contributions_are_combined_in_the_order_of_places", order_of_places},
    scenario{"elements_that_move_contribute_to_steps_that_overlap", on_the_move},
    scenario{"results_of_contributions_go_to_ranks_and_to_arrays", targets},
    scenario{"elements_that_come_and_go_take_part_in_steps", coming_and_going},
    scenario{"ranks_that_lose_their_elements_hold_up_no_step", becoming_vacant},
};

}  // namespace

std::span<const scenario> contribution_scenarios() { return contributions_table; }

}  // namespace nacre::tests
